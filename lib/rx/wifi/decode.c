/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From a frame's soft bits to octets: deinterleaving, depuncturing, Viterbi decoding, descrambling, FCS. */
#include "rx/wifi/frame_kernels.h"

#include "fec/crc32.h"
#include "fec/scrambler.h"
#include "fec/viterbi.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SOFT_PITCH (6 * PENSTOCK__WIFI_CARRIERS) /* soft bits of one symbol in the batch */
#define MAX_STEPS  (32782 + 216)                 /* trellis steps of the longest frame with its padding */
#define STRONG_BIT 24.0F /* soft value of a bit whose carrier has the mean power, at the least distance */

int penstock__wifi_worker_init(void *own)
{
    struct penstock__wifi_worker *worker = own;
    worker->viterbi = penstock__alloc(penstock__viterbi_workspace(MAX_STEPS));
    worker->soft = penstock__alloc(2 * MAX_STEPS);
    worker->packed = penstock__alloc(MAX_STEPS / 8 + 1);
    return worker->viterbi && worker->soft && worker->packed ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

void penstock__wifi_worker_free(void *own)
{
    struct penstock__wifi_worker *worker = own;
    penstock__free(worker->viterbi);
    penstock__free(worker->soft);
    penstock__free(worker->packed);
}

/* ---------------------------------------------------------------- before the device ----------- */

static float llr_scale(const struct penstock__wifi_node *node)
{
    const unsigned bits = (unsigned)node->rate->constellation;
    const float levels = bits == 1 ? 2 : (float)(1U << (bits / 2)), axes = bits == 1 ? 1 : 2;
    const float distance = 12 / (axes * (levels * levels - 1)); /* squared, of neighbours at mean power one */
    float power = 0;
    for (unsigned i = 0; i < PENSTOCK__WIFI_CARRIERS; i++)
        power += cf32_power(node->channel[penstock__wifi_data_carriers[i] & 63]) / PENSTOCK__WIFI_CARRIERS;
    float scale = STRONG_BIT * node->frame.ofdm.noise / (distance * power);
    return scale > 1e-20F && scale < 1e20F ? scale : 1;
}

/* PSDU and points in one piece; kept if the frame comes by again after an error. */
int penstock__wifi_reserve(const struct penstock__rx *rx, struct penstock__rx_frame *frame)
{
    struct penstock__wifi_node *node = penstock__wifi_node(frame);
    const size_t points =
        penstock__wifi_of(rx)->points ? (size_t)frame->symbols * PENSTOCK__WIFI_CARRIERS * sizeof *node->points : 0;
    if (frame->memory_bytes < points + node->length) {
        penstock__free(frame->memory);
        frame->memory = penstock__alloc(points + node->length);
        frame->memory_bytes = frame->memory ? points + node->length : 0;
    }
    if (!frame->memory)
        return PENSTOCK_ERR_MEMORY;
    node->points = points ? frame->memory : NULL;
    node->psdu = (uint8_t *)frame->memory + points;
    frame->ofdm.channel = node->channel;
    frame->ofdm.llr_scale = llr_scale(node);
    frame->ofdm.constellation = node->rate->constellation;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- after the device ------------ */

/* Of the constellation's points: levels on an axis, and what takes them to odd integers. */
static float levels_of(unsigned bits)
{
    return bits == 1 ? 2 : (float)(1U << (bits / 2));
}

static float unit_of(unsigned bits)
{
    return sqrtf((bits == 1 ? 1.0F : 2.0F) * (levels_of(bits) * levels_of(bits) - 1) / 3);
}

/* Squared distance from the nearest points of the constellation, in these units, added to `total`. */
static double add_errors(double total, const penstock_cf32 *points, size_t count, unsigned bits)
{
    const struct frame_kernels *kernels = penstock__frame_kernels();
    for (size_t done = 0; done < count; done += PENSTOCK__WIFI_CARRIERS)
        total += (double)kernels->stray(points + done, unit_of(bits), levels_of(bits), bits == 1);
    return total;
}

static double error_power(double total, size_t count, unsigned bits)
{
    return total / (double)(unit_of(bits) * unit_of(bits)) / (double)count;
}

static void check(struct penstock__wifi_node *node)
{
    struct penstock__rx_frame *frame = &node->frame;
    frame->decoded = true;
    if (node->length >= 4) {
        const uint8_t *fcs = node->psdu + node->length - 4;
        uint32_t sent = fcs[0] | (uint32_t)fcs[1] << 8 | (uint32_t)fcs[2] << 16 | (uint32_t)fcs[3] << 24;
        frame->checked = frame->sure = penstock__crc32(0, node->psdu, node->length - 4) == sent;
        if (!frame->checked)
            snprintf(frame->reason, sizeof frame->reason, "FCS differs: %.1f raw bit errors per 1000",
                     1e3 * node->raw_ber);
    } else {
        snprintf(frame->reason, sizeof frame->reason, "%u octets are too few for an FCS", node->length);
    }
}

void penstock__wifi_take(const struct penstock__rx *rx, void *own, struct penstock__rx_frame *frame, size_t first,
                         size_t count, const int8_t *soft, const penstock_cf32 *points)
{
    struct penstock__wifi_worker *worker = own;
    const struct penstock__wifi_node *node = penstock__wifi_node(frame);
    const struct penstock__wifi_soft_map *map = &penstock__wifi_of(rx)->tables.soft_maps[node->rate->index];
    for (size_t i = 0; i < count; i++)
        penstock__wifi_soft_map_apply(map, worker->soft + (first + i) * map->soft_count, soft + i * SOFT_PITCH, 6);
    worker->error = add_errors(first ? worker->error : 0, points, count * PENSTOCK__WIFI_CARRIERS,
                               (unsigned)node->rate->constellation);
    if (node->points)
        memcpy(node->points + first * PENSTOCK__WIFI_CARRIERS, points,
               count * PENSTOCK__WIFI_CARRIERS * sizeof *points);
}

void penstock__wifi_unscale(struct penstock__wifi_node *node)
{
    const float scale = 1 / node->frame.scale;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
        node->channel[k] = cf32_scale(node->channel[k], scale);
}

void penstock__wifi_complete(struct penstock__wifi_worker *worker, struct penstock__wifi_node *node, uint64_t wrong,
                             double error)
{
    const size_t steps = penstock__wifi_steps(node->length);
    const size_t points = (size_t)node->frame.symbols * PENSTOCK__WIFI_CARRIERS;
    const double power = error_power(error, points, (unsigned)node->rate->constellation);
    node->raw_ber = (double)wrong / (double)penstock__coded_count(node->rate->code_rate, steps);
    penstock__scramble(worker->packed, PENSTOCK__WIFI_SERVICE / 8 + node->length,
                       penstock__scrambler_seed(worker->packed[0]));
    memcpy(node->psdu, worker->packed + PENSTOCK__WIFI_SERVICE / 8, node->length);
    node->evm_db = 10 * log10(power > 1e-30 ? power : 1e-30);
    check(node);
    penstock__wifi_unscale(node);
    node->frame.state = PENSTOCK__RX_DONE;
}

void penstock__wifi_finish(const struct penstock__rx *rx, void *own, struct penstock__rx_frame *frame)
{
    struct penstock__wifi_worker *worker = own;
    struct penstock__wifi_node *node = penstock__wifi_node(frame);
    const size_t steps = penstock__wifi_steps(node->length);
    (void)rx;
    penstock__viterbi_decode(worker->packed, worker->soft, steps, PENSTOCK__TRELLIS_ZERO, worker->viterbi);
    penstock__wifi_complete(worker, node, penstock__convolutional_errors(worker->packed, worker->soft, steps),
                            worker->error);
}
