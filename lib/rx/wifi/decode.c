/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * From the samples of complete frames to octets: each frame's samples are copied beside each other and its pilots
 * tracked; then the device demodulates all symbols of all these frames in one batch; then each frame's soft bits are
 * decoded. The first and the last step treat frames in parallel.
 */
#include "rx/wifi/receiver.h"

#include "fec/crc32.h"
#include "fec/scrambler.h"
#include "fec/viterbi.h"
#include "ops/ofdm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BATCH_SYMBOLS 2048
#define BATCH_FRAMES  256
#define HEAD          208 /* samples from a frame's reference to its first DATA symbol */
#define BATCH_SAMPLES ((size_t)BATCH_SYMBOLS * PENSTOCK__WIFI_SYMBOL + (size_t)BATCH_FRAMES * (HEAD + MARGIN))
#define SOFT_PITCH    (6 * PENSTOCK__WIFI_CARRIERS) /* soft bits of one symbol in the batch */
#define MAX_STEPS     (32782 + 216)                 /* trellis steps of the longest frame with its padding */
#define STRONG_BIT    24.0F /* soft value of a bit whose carrier has the mean power, at the least distance */

struct penstock__wifi_batch_item {
    struct penstock__wifi_node *node;
    size_t sample, sample_count, symbol; /* where its part of the batch begins */
};

int penstock__wifi_batch_init(struct penstock__wifi_batch *batch)
{
    batch->samples = penstock__alloc(BATCH_SAMPLES * sizeof *batch->samples);
    batch->symbols = penstock__calloc(BATCH_SYMBOLS, sizeof *batch->symbols);
    batch->soft = penstock__alloc((size_t)BATCH_SYMBOLS * SOFT_PITCH);
    batch->points = penstock__alloc((size_t)BATCH_SYMBOLS * PENSTOCK__WIFI_CARRIERS * sizeof *batch->points);
    batch->items = penstock__alloc(BATCH_FRAMES * sizeof *batch->items);
    batch->frames = penstock__alloc(BATCH_FRAMES * sizeof *batch->frames);
    return batch->samples && batch->symbols && batch->soft && batch->points && batch->items && batch->frames
               ? PENSTOCK_OK
               : PENSTOCK_ERR_MEMORY;
}

void penstock__wifi_batch_free(struct penstock__wifi_batch *batch)
{
    penstock__free(batch->samples);
    penstock__free(batch->symbols);
    penstock__free(batch->soft);
    penstock__free(batch->points);
    penstock__free(batch->items);
    penstock__free(batch->frames);
}

int penstock__wifi_worker_init(struct penstock__wifi_worker *worker)
{
    worker->viterbi = penstock__alloc(penstock__viterbi_workspace(MAX_STEPS));
    worker->soft = penstock__alloc(2 * MAX_STEPS);
    worker->coded = penstock__alloc(2 * MAX_STEPS);
    worker->packed = penstock__alloc(MAX_STEPS / 8 + 1);
    return worker->viterbi && worker->soft && worker->coded && worker->packed ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

void penstock__wifi_worker_free(struct penstock__wifi_worker *worker)
{
    penstock__free(worker->viterbi);
    penstock__free(worker->soft);
    penstock__free(worker->coded);
    penstock__free(worker->packed);
}

/* All samples of the frame are there, as far as is known. */
static bool complete(const struct wifi_receiver *receiver, const struct penstock__wifi_node *node)
{
    return node->state == PENSTOCK__WIFI_WAITING && (receiver->stream.finished || node->until <= receiver->end);
}

/* ---------------------------------------------------------------- before the device ----------- */

static void prepare(void *argument, size_t index, unsigned worker)
{
    struct wifi_receiver *receiver = argument;
    struct penstock__wifi_batch *batch = &receiver->batch;
    const struct penstock__wifi_batch_item *item = &batch->items[index];
    struct penstock__wifi_node *node = item->node;
    const penstock_cf32 *in = receiver->samples + (node->reference - receiver->base);
    penstock_cf32 *out = batch->samples + item->sample;
    penstock_ofdm_symbol *symbols = batch->symbols + item->symbol;
    int64_t available = receiver->end - node->reference;
    size_t count = available < (int64_t)item->sample_count ? (size_t)available : item->sample_count;
    for (size_t i = 0; i < count; i++)
        out[i] = cf32_scale(cf32_sub(in[i], node->mean), node->scale);
    memset(out + count, 0, (item->sample_count - count) * sizeof *out);
    penstock__wifi_track(node, out, symbols, &receiver->workers[worker].tracker);
    for (unsigned i = 0; i < node->symbols; i++) {
        symbols[i].start += item->sample;
        symbols[i].frame = (uint32_t)index;
    }
}

static float llr_scale(const struct penstock__wifi_node *node)
{
    const unsigned bits = (unsigned)node->rate->constellation;
    const float levels = bits == 1 ? 2 : (float)(1U << (bits / 2)), axes = bits == 1 ? 1 : 2;
    const float distance = 12 / (axes * (levels * levels - 1)); /* squared, of neighbours at mean power one */
    float power = 0;
    for (unsigned i = 0; i < PENSTOCK__WIFI_CARRIERS; i++)
        power += cf32_power(node->channel[penstock__wifi_data_carriers[i] & 63]) / PENSTOCK__WIFI_CARRIERS;
    float scale = STRONG_BIT * node->noise / (distance * power);
    return scale > 1e-20F && scale < 1e20F ? scale : 1;
}

static void describe(const struct penstock__wifi_batch_item *item, penstock_ofdm_frame *frame)
{
    *frame = (penstock_ofdm_frame){
        .channel = item->node->channel,
        .noise = item->node->noise,
        .llr_scale = llr_scale(item->node),
        .cfo = item->node->cfo,
        .origin = item->sample,
        .constellation = item->node->rate->constellation,
    };
}

/* ---------------------------------------------------------------- after the device ------------ */

/* Mean squared distance from the nearest points of the constellation. */
static double error_power(const penstock_cf32 *points, size_t count, penstock_constellation constellation)
{
    const unsigned bits = (unsigned)constellation;
    const float levels = bits == 1 ? 2 : (float)(1U << (bits / 2));
    const float unit = sqrtf((bits == 1 ? 1.0F : 2.0F) * (levels * levels - 1) / 3);
    const float limit = levels / 2 - 0.5F; /* keeps the outermost levels the nearest for what lies beyond */
    double total = 0;
    for (size_t done = 0; done < count; done += PENSTOCK__WIFI_CARRIERS) {
        const float *x = &points[done].re;
        float lanes[8] = {0}, sum = 0;
        for (unsigned i = 0; i < 2 * PENSTOCK__WIFI_CARRIERS; i += 8)
            for (unsigned j = 0; j < 8; j++) {
                float u = x[i + j] * unit, half = u * 0.5F;
                half = half > -limit ? half : -limit; /* NaN too */
                half = half < limit ? half : limit;
                float level = 2 * (float)((int)(half + 64) - 64) + 1;
                float error = bits == 1 && j % 2 ? u : u - level;
                lanes[j] += error * error;
            }
        for (unsigned j = 0; j < 8; j++)
            sum += lanes[j];
        total += (double)sum;
    }
    return total / (double)(unit * unit) / (double)count;
}

/* Bits that the demapper had decided otherwise, as a share of those sent. */
static double raw_errors(const struct penstock__wifi_node *node, struct penstock__wifi_worker *worker, size_t steps)
{
    size_t wrong = 0;
    penstock__convolutional_encode(worker->coded, worker->packed, steps, PENSTOCK__CODE_1_2);
    for (size_t done = 0; done < 2 * steps; done += 4096) {
        size_t part = 2 * steps - done < 4096 ? 2 * steps - done : 4096;
        uint32_t sum = 0;
        for (size_t i = done; i < done + part; i++)
            sum += (uint32_t)(worker->coded[i] ? worker->soft[i] > 0 : worker->soft[i] < 0);
        wrong += sum;
    }
    return (double)wrong / (double)penstock__coded_count(node->rate->code_rate, steps);
}

static void check(struct penstock__wifi_node *node)
{
    node->decoded = true;
    if (node->length >= 4) {
        const uint8_t *fcs = node->psdu + node->length - 4;
        uint32_t sent = fcs[0] | (uint32_t)fcs[1] << 8 | (uint32_t)fcs[2] << 16 | (uint32_t)fcs[3] << 24;
        node->fcs_ok = node->sure = penstock__crc32(0, node->psdu, node->length - 4) == sent;
        snprintf(node->reason, sizeof node->reason, "FCS differs: %.1f raw bit errors per 1000", 1e3 * node->raw_ber);
    } else {
        snprintf(node->reason, sizeof node->reason, "%u octets are too few for an FCS", node->length);
    }
}

static void finish(void *argument, size_t index, unsigned worker_index)
{
    struct wifi_receiver *receiver = argument;
    struct penstock__wifi_worker *worker = &receiver->workers[worker_index];
    const struct penstock__wifi_batch_item *item = &receiver->batch.items[index];
    struct penstock__wifi_node *node = item->node;
    const struct penstock__wifi_soft_map *map = &receiver->tables.soft_maps[node->rate->index];
    const penstock_cf32 *points = receiver->batch.points + item->symbol * PENSTOCK__WIFI_CARRIERS;
    size_t steps = penstock__wifi_steps(node->length);
    if (!complete(receiver, node)) /* a slow clock: the frame goes on, as its pilots have told */
        return;
    for (size_t i = 0; i < node->symbols; i++)
        penstock__wifi_soft_map_apply(map, worker->soft + i * map->soft_count,
                                      receiver->batch.soft + (item->symbol + i) * SOFT_PITCH, 6);
    penstock__viterbi_decode(worker->packed, worker->soft, steps, PENSTOCK__TRELLIS_ZERO, worker->viterbi);
    node->raw_ber = raw_errors(node, worker, steps);
    penstock__scramble(worker->packed, PENSTOCK__WIFI_SERVICE / 8 + node->length,
                       penstock__scrambler_seed(worker->packed[0]));
    memcpy(node->psdu, worker->packed + PENSTOCK__WIFI_SERVICE / 8, node->length);
    double error = error_power(points, (size_t)node->symbols * PENSTOCK__WIFI_CARRIERS, node->rate->constellation);
    node->evm_db = 10 * log10(error > 1e-30 ? error : 1e-30);
    if (node->points)
        memcpy(node->points, points, (size_t)node->symbols * PENSTOCK__WIFI_CARRIERS * sizeof *points);
    check(node);
    node->state = PENSTOCK__WIFI_DONE;
}

/* ---------------------------------------------------------------- the batch ------------------- */

/* PSDU and points in one piece; kept if the frame comes by again after an error. */
static int reserve(const struct wifi_receiver *receiver, struct penstock__wifi_node *node)
{
    size_t points = receiver->points ? (size_t)node->symbols * PENSTOCK__WIFI_CARRIERS * sizeof *node->points : 0;
    if (!node->memory && !(node->memory = penstock__alloc(points + node->length)))
        return PENSTOCK_ERR_MEMORY;
    node->points = points ? node->memory : NULL;
    node->psdu = (uint8_t *)node->memory + points;
    return PENSTOCK_OK;
}

/* As many complete frames as the batch holds, from `node` on; returns the first that was left, in *rest. */
static int collect(struct wifi_receiver *receiver, struct penstock__wifi_node *node, struct penstock__wifi_node **rest)
{
    struct penstock__wifi_batch *batch = &receiver->batch;
    batch->item_count = batch->sample_count = batch->symbol_count = 0;
    for (; node; node = node->next) {
        if (!complete(receiver, node))
            continue;
        if (batch->item_count == BATCH_FRAMES || batch->symbol_count + node->symbols > BATCH_SYMBOLS)
            break;
        if (reserve(receiver, node))
            return PENSTOCK_ERR_MEMORY;
        struct penstock__wifi_batch_item *item = &batch->items[batch->item_count];
        item->node = node;
        item->sample = batch->sample_count;
        item->sample_count = HEAD + (size_t)node->symbols * PENSTOCK__WIFI_SYMBOL + MARGIN;
        item->symbol = batch->symbol_count;
        describe(item, &batch->frames[batch->item_count++]);
        batch->sample_count += item->sample_count;
        batch->symbol_count += node->symbols;
    }
    *rest = node;
    return PENSTOCK_OK;
}

static int run(struct wifi_receiver *receiver)
{
    struct penstock__wifi_batch *batch = &receiver->batch;
    penstock__parallel(receiver->stream.context, batch->item_count, prepare, receiver);
    double began = penstock__now_s();
    int status = penstock_ofdm_run(receiver->ofdm,
                                   &PENSTOCK_OFDM_BATCH(.samples = batch->samples, .sample_count = batch->sample_count,
                                                        .frames = batch->frames, .frame_count = batch->item_count,
                                                        .symbols = batch->symbols, .symbol_count = batch->symbol_count),
                                   &PENSTOCK_OFDM_RESULT(.soft = batch->soft, .points = batch->points));
    if (status)
        return status;
    bool clock = penstock__ofdm_has_clock(receiver->ofdm);
    penstock__meter_batch(&receiver->stream.meter, batch->item_count, clock ? 0 : penstock__now_s() - began);
    penstock__parallel(receiver->stream.context, batch->item_count, finish, receiver);
    for (size_t i = 0; i < batch->item_count; i++) {
        receiver->counters.decoded += batch->items[i].node->decoded;
        receiver->counters.fcs_ok += batch->items[i].node->fcs_ok;
    }
    return PENSTOCK_OK;
}

int penstock__wifi_decode(struct wifi_receiver *receiver)
{
    struct penstock__wifi_node *node = receiver->frames;
    while (node) {
        int status = collect(receiver, node, &node);
        if (status || (receiver->batch.item_count && (status = run(receiver))))
            return status;
    }
    return PENSTOCK_OK;
}
