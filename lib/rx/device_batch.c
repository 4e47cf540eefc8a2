/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One batch of frames on its way through a device. */
#include "core/base/context.h"
#include "core/stream/meter.h"
#include "ops/ofdm/ofdm.h"
#include "rx/device.h"

#include <penstock/host_memory.h>

struct batch {
    struct penstock__rx_batch common;
    penstock_queue *queue;
    penstock_buffer *sent, *parts[PENSTOCK__RX_PARTS]; /* which are of it */
    penstock_buffer *points, *rows, *decoded, *results;
    char *to_send, *received; /* in the host's memory */
};

/* ---------------------------------------------------------------- life ------------------------ */

static struct penstock_device *member_of(const struct penstock__rx_device *device, unsigned member)
{
    struct penstock_device *whole = device->there;
    return whole->member_count ? whole->members[member % whole->member_count] : whole;
}

static int make_parts(struct batch *batch, const struct penstock__rx_device *device)
{
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < PENSTOCK__RX_PARTS && !status; i++)
        status = penstock_buffer_slice(&batch->parts[i], batch->sent, device->part_at[i], device->part_bytes[i]);
    return status;
}

static int make_buffers(struct batch *batch, const struct penstock__rx_device *device, struct penstock_device *there)
{
    const struct penstock__rx_code *code = device->rx->standard->code;
    const size_t last = PENSTOCK__RX_PARTS - 1, sent = device->part_at[last] + device->part_bytes[last];
    const size_t decoded = PENSTOCK__RX_FRAMES * device->problems[1].out_bytes;
    const size_t results = PENSTOCK__RX_SYMBOLS * sizeof(struct penstock_coded_count) + decoded;
    const struct {
        penstock_buffer **buffer;
        size_t bytes;
    } wanted[] = {{&batch->sent, sent},
                  {&batch->points, PENSTOCK__RX_SYMBOLS * penstock__ofdm_row(&device->points)},
                  {&batch->rows, (size_t)2 * PENSTOCK__RX_SYMBOLS * code->most_steps},
                  {&batch->decoded, decoded},
                  {&batch->results, results}};
    void *to_send = NULL, *received = NULL;
    int status = penstock__host_block_new(&to_send, device->rx->stream.context, there, sent);
    batch->to_send = to_send;
    if (!status)
        status = penstock__host_block_new(&received, device->rx->stream.context, there, results);
    batch->received = received;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !status; i++)
        status = penstock__buffer_make(wanted[i].buffer, there, wanted[i].bytes);
    return status ? status : make_parts(batch, device);
}

/* Where what is sent of a part begins in the host's memory. */
static void *part(const struct penstock__rx_device *device, const struct batch *batch, enum penstock__rx_part which)
{
    return batch->to_send + device->part_at[which];
}

static int make(void *owner, struct penstock__rx_batch *common, unsigned number)
{
    const struct penstock__rx_device *device = owner;
    struct batch *batch = (struct batch *)common;
    struct penstock_device *there = member_of(device, number);
    int status = penstock__queue_make(&batch->queue, there);
    if (!status && !(status = make_buffers(batch, device, there)))
        common->samples = part(device, batch, PENSTOCK__RX_SAMPLES);
    return status;
}

static void free_batch(void *owner, struct penstock__rx_batch *common)
{
    penstock_context *context = ((const struct penstock__rx_device *)owner)->rx->stream.context;
    struct batch *batch = (struct batch *)common;
    penstock_buffer *buffers[] = {batch->points, batch->rows, batch->decoded, batch->results, batch->sent};
    penstock_queue_free(batch->queue);
    for (unsigned i = 0; i < PENSTOCK__RX_PARTS; i++)
        penstock_buffer_free(batch->parts[i]);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        penstock_buffer_free(buffers[i]);
    penstock_host_memory_free(context, batch->to_send);
    penstock_host_memory_free(context, batch->received);
}

/* ---------------------------------------------------------------- on the host ----------------- */

static void enter(const void *owner, struct penstock__rx_batch *batch, struct penstock__rx_item *item)
{
    const struct penstock__rx_device *device = owner;
    device->rx->standard->code->frame(item->frame, &item->rate, &item->steps);
    item->rate_steps = (unsigned)device->rates[item->rate * device->problems[0].coded.row + PENSTOCK__CODED_STEPS];
    item->coded = batch->coded_bytes;
    item->packed = batch->packed_bytes;
    batch->coded_bytes += (size_t)2 * item->frame->symbols * item->rate_steps;
    batch->packed_bytes += (item->steps + 7) / 8;
}

/* What the kernels know of a frame, and of its symbols. */
static void list(const void *owner, struct penstock__rx_batch *common, size_t index, penstock_ofdm_symbol *symbols)
{
    const struct penstock__rx_device *device = owner;
    const struct batch *batch = (const struct batch *)common;
    const struct penstock__rx_item *item = &common->items[index];
    struct penstock_ofdm_descriptor *descriptors = part(device, batch, PENSTOCK__RX_DESCRIPTORS);
    penstock_cf32 *coefficients = part(device, batch, PENSTOCK__RX_COEFFICIENTS);
    penstock_viterbi_block *blocks = part(device, batch, PENSTOCK__RX_BLOCKS);
    struct penstock_coded_symbol *coded = part(device, batch, PENSTOCK__RX_CODED);
    const unsigned tail = device->rx->standard->code->constraint - 1;
    for (unsigned i = 0; i < item->frame->symbols; i++)
        coded[item->symbol + i] =
            (struct penstock_coded_symbol){.rate = item->rate,
                                           .coded = (uint32_t)(item->coded + (size_t)2 * i * item->rate_steps),
                                           .block = (uint32_t)index,
                                           .step = i * item->rate_steps,
                                           .steps = (uint32_t)item->steps,
                                           .packed = (uint32_t)item->packed};
    item->frame->unlisted = !penstock__ofdm_list_frame(
        device->rx->ofdm, coefficients + index * penstock__ofdm_coefficients(&device->points), &common->frames[index]);
    penstock__ofdm_list_symbols(device->rx->ofdm, descriptors + item->symbol, symbols, item->frame->symbols,
                                common->frames);
    blocks[index] = (penstock_viterbi_block){.at = item->coded, .bits = (uint32_t)(item->steps - tail)};
}

static void finish(const void *owner, const struct penstock__rx_batch *common, const struct penstock__rx_item *item,
                   void *worker)
{
    const struct penstock__rx_device *device = owner;
    const struct batch *batch = (const struct batch *)common;
    const struct penstock_coded_count *counts = (const struct penstock_coded_count *)(const void *)batch->received;
    const uint8_t *bits = (const uint8_t *)(counts + common->symbol_count) + item->packed;
    uint64_t wrong = 0;
    double error = 0;
    for (unsigned i = 0; i < item->frame->symbols; i++) {
        wrong += counts[item->symbol + i].wrong;
        error += (double)counts[item->symbol + i].error;
    }
    device->rx->standard->code->finish(worker, item->frame, bits, wrong, error);
}

/* ---------------------------------------------------------------- on the device --------------- */

static int enqueue(struct penstock__executor *executor, const struct penstock_job *job, penstock_queue *queue)
{
    return penstock__enqueue(penstock__executor_on(executor, queue->slot.device), job, queue);
}

static int send(const struct penstock__rx_device *device, struct batch *batch)
{
    penstock_queue *queue = batch->queue;
    const size_t symbols = batch->common.symbol_count;
    const size_t sent = device->part_at[PENSTOCK__RX_SAMPLES] + batch->common.sample_count * sizeof(penstock_cf32);
    const struct penstock_job ofdm = {.in = batch->parts[PENSTOCK__RX_SAMPLES],
                                      .gather = batch->parts[PENSTOCK__RX_DESCRIPTORS],
                                      .coefficients = batch->parts[PENSTOCK__RX_COEFFICIENTS],
                                      .out = batch->points,
                                      .frames = symbols,
                                      .samples = batch->common.sample_count};
    const struct penstock_job deinterleave = {
        .in = batch->points, .gather = batch->parts[PENSTOCK__RX_CODED], .out = batch->rows, .frames = symbols};
    const struct penstock_job viterbi = {.in = batch->rows,
                                         .gather = batch->parts[PENSTOCK__RX_BLOCKS],
                                         .out = batch->decoded,
                                         .frames = batch->common.item_count,
                                         .samples = batch->common.coded_bytes};
    const struct penstock_job tally = {.in = batch->points,
                                       .gather = batch->parts[PENSTOCK__RX_CODED],
                                       .coefficients = batch->decoded,
                                       .out = batch->results,
                                       .frames = symbols};
    int status = penstock__buffer_send(batch->sent, batch->to_send, sent, queue);
    if (!status && !(status = enqueue(device->ofdm, &ofdm, queue)) &&
        !(status = enqueue(device->deinterleave, &deinterleave, queue)) &&
        !(status = enqueue(device->viterbi, &viterbi, queue)))
        status = enqueue(device->tally, &tally, queue);
    return status ? status
                  : penstock__buffer_fetch(batch->results, batch->received,
                                           symbols * sizeof(struct penstock_coded_count) + batch->common.packed_bytes,
                                           queue);
}

static int use(void *owner, struct penstock__rx_batch *sent, struct penstock__rx_batch *waited)
{
    const struct penstock__rx_device *device = owner;
    const double began = penstock__now_s();
    int status = sent ? send(device, (struct batch *)sent) : PENSTOCK_OK;
    if (waited && !status && !(status = penstock__queue_drain(((struct batch *)waited)->queue)))
        penstock__meter_batch(&device->rx->stream.meter, waited->item_count, penstock__now_s() - began);
    return status;
}

const struct penstock__rx_way penstock__rx_device_way = {.bytes = sizeof(struct batch),
                                                         .frames = PENSTOCK__RX_FRAMES,
                                                         .symbols = PENSTOCK__RX_SYMBOLS,
                                                         .lists = true,
                                                         .copies = true,
                                                         .make = make,
                                                         .free = free_batch,
                                                         .enter = enter,
                                                         .list = list,
                                                         .use = use,
                                                         .finish = finish};
