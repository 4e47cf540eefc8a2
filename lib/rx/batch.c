/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Complete frames by way of a device: each frame's samples are copied beside each other and its pilots tracked; then
 * the device demodulates all symbols of all these frames in one batch; then each frame's soft bits are decoded. The
 * first and the last step treat frames in parallel.
 */
#include "core/meter.h"
#include "ops/ofdm.h"
#include "rx/receiver.h"

#include <stdatomic.h>

#define SYMBOLS 8192
#define FRAMES  512

struct item {
    struct penstock__rx_frame *frame;
    size_t sample, samples, symbol; /* where its part of the batch begins */
};

struct penstock__rx_batch {
    penstock_cf32 *samples;
    penstock_ofdm_symbol *symbols;
    int8_t *soft;
    penstock_cf32 *points;
    struct item *items; /* one a frame */
    penstock_ofdm_frame *frames;
    size_t item_count, sample_count, symbol_count;
    atomic_bool no_memory;
};

void penstock__rx_batch_free(struct penstock__rx_batch *batch)
{
    if (!batch)
        return;
    penstock__free(batch->samples);
    penstock__free(batch->symbols);
    penstock__free(batch->soft);
    penstock__free(batch->points);
    penstock__free(batch->items);
    penstock__free(batch->frames);
    penstock__free(batch);
}

static int batch_new(struct penstock__rx_batch **batch, const struct penstock__rx_standard *standard)
{
    const size_t carriers = standard->carriers, margins = standard->head + standard->margin;
    struct penstock__rx_batch *made = penstock__calloc(1, sizeof *made);
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->samples = penstock__alloc((SYMBOLS * standard->symbol + FRAMES * margins) * sizeof *made->samples);
    made->symbols = penstock__calloc(SYMBOLS, sizeof *made->symbols);
    made->soft = penstock__alloc(SYMBOLS * carriers * standard->bits);
    made->points = penstock__alloc(SYMBOLS * carriers * sizeof *made->points);
    made->items = penstock__alloc(FRAMES * sizeof *made->items);
    made->frames = penstock__alloc(FRAMES * sizeof *made->frames);
    if (!made->samples || !made->symbols || !made->soft || !made->points || !made->items || !made->frames) {
        penstock__rx_batch_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    *batch = made;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- before the device ----------- */

static void prepare(void *argument, size_t index, unsigned worker)
{
    const struct penstock__rx *rx = argument;
    struct penstock__rx_batch *batch = rx->batch;
    const struct item *item = &batch->items[index];
    penstock_ofdm_symbol *symbols = batch->symbols + item->symbol;
    if (rx->standard->reserve(rx, item->frame)) {
        atomic_store(&batch->no_memory, true);
        return;
    }
    penstock__rx_read(rx, item->frame, 0, item->samples, batch->samples + item->sample);
    rx->standard->track(rx, rx->workers[worker].own, item->frame, symbols);
    for (unsigned i = 0; i < item->frame->symbols; i++) {
        symbols[i].start += item->sample;
        symbols[i].frame = (uint32_t)index;
    }
    batch->frames[index] = item->frame->ofdm;
    batch->frames[index].origin = item->sample;
}

/* ---------------------------------------------------------------- after the device ------------ */

static void finish(void *argument, size_t index, unsigned worker)
{
    const struct penstock__rx *rx = argument;
    const struct penstock__rx_standard *standard = rx->standard;
    const struct item *item = &rx->batch->items[index];
    void *own = rx->workers[worker].own;
    if (!penstock__rx_complete(rx, item->frame)) /* a slow clock: the frame goes on, as its pilots have told */
        return;
    standard->take(rx, own, item->frame, 0, item->frame->symbols,
                   rx->batch->soft + item->symbol * standard->carriers * standard->bits,
                   rx->batch->points + item->symbol * standard->carriers);
    standard->finish(rx, own, item->frame);
}

/* ---------------------------------------------------------------- the batch ------------------- */

/* As many complete frames as the batch holds, from `frame` on; returns the first that was left. */
static struct penstock__rx_frame *collect(struct penstock__rx *rx, struct penstock__rx_frame *frame)
{
    const struct penstock__rx_standard *standard = rx->standard;
    struct penstock__rx_batch *batch = rx->batch;
    batch->item_count = batch->sample_count = batch->symbol_count = 0;
    for (; frame; frame = frame->next) {
        if (!penstock__rx_complete(rx, frame))
            continue;
        if (batch->item_count == FRAMES || batch->symbol_count + frame->symbols > SYMBOLS)
            break;
        struct item *item = &batch->items[batch->item_count++];
        item->frame = frame;
        item->sample = batch->sample_count;
        item->samples = standard->head + frame->symbols * standard->symbol + standard->margin;
        item->symbol = batch->symbol_count;
        batch->sample_count += item->samples;
        batch->symbol_count += frame->symbols;
    }
    return frame;
}

static int run(struct penstock__rx *rx)
{
    struct penstock__rx_batch *batch = rx->batch;
    atomic_store(&batch->no_memory, false);
    penstock__parallel(rx->stream.context, batch->item_count, prepare, rx);
    if (atomic_load(&batch->no_memory))
        return penstock__error(PENSTOCK_ERR_MEMORY, "receiver: no memory for what a frame gives");
    double began = penstock__now_s();
    int status = penstock_ofdm_run(rx->ofdm,
                                   &PENSTOCK_OFDM_BATCH(.samples = batch->samples, .sample_count = batch->sample_count,
                                                        .frames = batch->frames, .frame_count = batch->item_count,
                                                        .symbols = batch->symbols, .symbol_count = batch->symbol_count),
                                   &PENSTOCK_OFDM_RESULT(.soft = batch->soft, .points = batch->points));
    if (status)
        return status;
    bool clock = penstock__ofdm_has_clock(rx->ofdm);
    penstock__meter_batch(&rx->stream.meter, batch->item_count, clock ? 0 : penstock__now_s() - began);
    penstock__parallel(rx->stream.context, batch->item_count, finish, rx);
    for (size_t i = 0; i < batch->item_count; i++)
        if (batch->items[i].frame->state == PENSTOCK__RX_DONE)
            penstock__rx_count(rx, batch->items[i].frame);
    return PENSTOCK_OK;
}

int penstock__rx_decode_batches(struct penstock__rx *rx)
{
    struct penstock__rx_frame *frame = rx->first;
    int status = rx->batch ? PENSTOCK_OK : batch_new(&rx->batch, rx->standard);
    while (!status && frame) {
        frame = collect(rx, frame);
        if (rx->batch->item_count)
            status = run(rx);
    }
    return status;
}
