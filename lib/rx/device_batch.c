/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One batch of frames on its way through a device. */
#include "core/context.h"
#include "ops/ofdm.h"
#include "rx/device.h"

#include <penstock/host_memory.h>

/* ---------------------------------------------------------------- life ------------------------ */

static struct penstock_device *member_of(const struct penstock__rx_device *device, unsigned member)
{
    struct penstock_device *whole = device->ofdm->state.device;
    return whole->member_count ? whole->members[member % whole->member_count] : whole;
}

static int make_parts(struct penstock__rx_device_batch *batch, const struct penstock__rx_device *device)
{
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < PENSTOCK__RX_PARTS && !status; i++)
        status = penstock_buffer_slice(&batch->parts[i], batch->sent, device->part_at[i], device->part_bytes[i]);
    return status;
}

static int make_buffers(struct penstock__rx_device_batch *batch, const struct penstock__rx_device *device,
                        struct penstock_device *there)
{
    const struct penstock__rx_code *code = device->rx->standard->code;
    const size_t last = PENSTOCK__RX_PARTS - 1, sent = device->part_at[last] + device->part_bytes[last];
    const size_t decoded = PENSTOCK__RX_FRAMES * device->problems[1].out_bytes;
    const size_t results = PENSTOCK__RX_SYMBOLS * sizeof(struct penstock_coded_count) + decoded;
    const struct {
        penstock_buffer **buffer;
        size_t bytes;
    } wanted[] = {{&batch->sent, sent},
                  {&batch->points, PENSTOCK__RX_SYMBOLS * device->ofdm->state.problem->out_bytes},
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

int penstock__rx_device_batch_init(struct penstock__rx_device_batch *batch, const struct penstock__rx_device *device,
                                   unsigned member)
{
    struct penstock_device *there = member_of(device, member);
    int status;
    batch->items = penstock__alloc(PENSTOCK__RX_FRAMES * sizeof *batch->items);
    batch->frames = penstock__alloc(PENSTOCK__RX_FRAMES * sizeof *batch->frames);
    if (!batch->items || !batch->frames)
        return PENSTOCK_ERR_MEMORY;
    status = penstock__queue_make(&batch->queue, there);
    return status ? status : make_buffers(batch, device, there);
}

void penstock__rx_device_batch_free(struct penstock__rx_device_batch *batch, const struct penstock__rx_device *device)
{
    penstock_buffer *buffers[] = {batch->points, batch->rows, batch->decoded, batch->results, batch->sent};
    penstock_queue_free(batch->queue);
    for (unsigned i = 0; i < PENSTOCK__RX_PARTS; i++)
        penstock_buffer_free(batch->parts[i]);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        penstock_buffer_free(buffers[i]);
    penstock_host_memory_free(device->rx->stream.context, batch->to_send);
    penstock_host_memory_free(device->rx->stream.context, batch->received);
    penstock__free(batch->items);
    penstock__free(batch->frames);
}

/* ---------------------------------------------------------------- on the host ----------------- */

/* Where what is sent of a part begins in the host's memory. */
static void *part(const struct penstock__rx_device *device, const struct penstock__rx_device_batch *batch,
                  enum penstock__rx_part which)
{
    return batch->to_send + device->part_at[which];
}

static void enter(const struct penstock__rx_device *device, struct penstock__rx_device_batch *batch,
                  struct penstock__rx_frame *frame)
{
    const struct penstock__rx_standard *standard = device->rx->standard;
    struct penstock__rx_item *item = &batch->items[batch->item_count++];
    item->frame = frame;
    standard->code->frame(frame, &item->rate, &item->steps);
    item->rate_steps = (unsigned)device->rates[item->rate * device->problems[0].coded.row + PENSTOCK__CODED_STEPS];
    item->sample = batch->sample_count;
    item->samples = standard->head + frame->symbols * standard->symbol + standard->margin;
    item->symbol = batch->symbol_count;
    item->coded = batch->coded_bytes;
    item->packed = batch->packed_bytes;
    batch->sample_count += item->samples;
    batch->symbol_count += frame->symbols;
    batch->coded_bytes += (size_t)2 * frame->symbols * item->rate_steps;
    batch->packed_bytes += (item->steps + 7) / 8;
}

struct penstock__rx_frame *penstock__rx_device_collect(const struct penstock__rx_device *device,
                                                       struct penstock__rx_device_batch *batch,
                                                       struct penstock__rx_frame *frame)
{
    batch->item_count = batch->sample_count = batch->symbol_count = batch->coded_bytes = batch->packed_bytes = 0;
    for (; frame; frame = frame->next) {
        if (!penstock__rx_complete(device->rx, frame) || frame->unlisted)
            continue;
        if (batch->item_count == PENSTOCK__RX_FRAMES || batch->symbol_count + frame->symbols > PENSTOCK__RX_SYMBOLS)
            break;
        enter(device, batch, frame);
    }
    return frame;
}

/* What the kernels know of a frame, and of its symbols. */
static void list(const struct penstock__rx_device *device, struct penstock__rx_device_batch *batch, size_t index,
                 penstock_ofdm_symbol *symbols)
{
    const struct penstock__rx_item *item = &batch->items[index];
    struct penstock_ofdm_descriptor *descriptors = part(device, batch, PENSTOCK__RX_DESCRIPTORS);
    penstock_cf32 *coefficients = part(device, batch, PENSTOCK__RX_COEFFICIENTS);
    penstock_viterbi_block *blocks = part(device, batch, PENSTOCK__RX_BLOCKS);
    struct penstock_coded_symbol *coded = part(device, batch, PENSTOCK__RX_CODED);
    const unsigned tail = device->rx->standard->code->constraint - 1;
    for (unsigned i = 0; i < item->frame->symbols; i++) {
        symbols[i].start += item->sample;
        symbols[i].frame = (uint32_t)index;
        coded[item->symbol + i] =
            (struct penstock_coded_symbol){.rate = item->rate,
                                           .coded = (uint32_t)(item->coded + (size_t)2 * i * item->rate_steps),
                                           .block = (uint32_t)index,
                                           .step = i * item->rate_steps,
                                           .steps = (uint32_t)item->steps,
                                           .packed = (uint32_t)item->packed};
    }
    batch->frames[index] = item->frame->ofdm;
    batch->frames[index].origin = item->sample;
    item->frame->unlisted =
        !penstock__ofdm_list_frame(device->rx->ofdm, coefficients + index * device->pairs, &batch->frames[index]);
    penstock__ofdm_list_symbols(device->rx->ofdm, descriptors + item->symbol, symbols, item->frame->symbols,
                                batch->frames);
    blocks[index] = (penstock_viterbi_block){.at = item->coded, .bits = (uint32_t)(item->steps - tail)};
}

int penstock__rx_device_prepare(const struct penstock__rx_device *device, struct penstock__rx_device_batch *batch,
                                size_t index, unsigned worker)
{
    const struct penstock__rx *rx = device->rx;
    const struct penstock__rx_item *item = &batch->items[index];
    const struct penstock__rx_worker *own = &rx->workers[worker];
    penstock_cf32 *samples = part(device, batch, PENSTOCK__RX_SAMPLES);
    if (rx->standard->reserve(rx, item->frame))
        return PENSTOCK_ERR_MEMORY;
    rx->standard->track(rx, own->own, item->frame, own->symbols);
    penstock__rx_read(rx, item->frame, 0, item->samples, samples + item->sample);
    list(device, batch, index, own->symbols);
    return PENSTOCK_OK;
}

void penstock__rx_device_finish(const struct penstock__rx_device *device, const struct penstock__rx_device_batch *batch,
                                size_t index, unsigned worker)
{
    const struct penstock__rx *rx = device->rx;
    const struct penstock__rx_item *item = &batch->items[index];
    const struct penstock_coded_count *counts = (const struct penstock_coded_count *)(const void *)batch->received;
    const uint8_t *bits = (const uint8_t *)(counts + batch->symbol_count) + item->packed;
    uint64_t wrong = 0;
    double error = 0;
    if (!penstock__rx_complete(rx, item->frame) || item->frame->unlisted) /* as batch.c; or for others to do */
        return;
    for (unsigned i = 0; i < item->frame->symbols; i++) {
        wrong += counts[item->symbol + i].wrong;
        error += (double)counts[item->symbol + i].error;
    }
    rx->standard->code->finish(rx->workers[worker].own, item->frame, bits, wrong, error);
}

/* ---------------------------------------------------------------- on the device --------------- */

static int enqueue(struct penstock__executor *executor, const struct penstock_job *job, penstock_queue *queue)
{
    return penstock__enqueue(penstock__executor_on(executor, queue->slot.device), job, queue);
}

int penstock__rx_device_send(const struct penstock__rx_device *device, struct penstock__rx_device_batch *batch)
{
    penstock_queue *queue = batch->queue;
    const size_t symbols = batch->symbol_count;
    const size_t sent = device->part_at[PENSTOCK__RX_SAMPLES] + batch->sample_count * sizeof(penstock_cf32);
    const struct penstock_job ofdm = {.in = batch->parts[PENSTOCK__RX_SAMPLES],
                                      .gather = batch->parts[PENSTOCK__RX_DESCRIPTORS],
                                      .coefficients = batch->parts[PENSTOCK__RX_COEFFICIENTS],
                                      .out = batch->points,
                                      .frames = symbols,
                                      .samples = batch->sample_count};
    const struct penstock_job deinterleave = {
        .in = batch->points, .gather = batch->parts[PENSTOCK__RX_CODED], .out = batch->rows, .frames = symbols};
    const struct penstock_job viterbi = {.in = batch->rows,
                                         .gather = batch->parts[PENSTOCK__RX_BLOCKS],
                                         .out = batch->decoded,
                                         .frames = batch->item_count,
                                         .samples = batch->coded_bytes};
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
                                           symbols * sizeof(struct penstock_coded_count) + batch->packed_bytes, queue);
}

int penstock__rx_device_wait(struct penstock__rx_device_batch *batch)
{
    return penstock__queue_drain(batch->queue);
}
