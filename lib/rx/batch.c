/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Complete frames by way of a device: each frame's samples are copied beside each other and its pilots tracked; then
 * the device demodulates all symbols of all these frames in one batch; then each frame's soft bits are decoded. The
 * first and the last step treat frames side by side, and while the device has a batch, those before and behind it are
 * decoded and prepared.
 */
#include "core/meter.h"
#include "ops/ofdm.h"
#include "rx/receiver.h"

#include <stdatomic.h>
#include <stdio.h>

#define SYMBOLS 2048
#define FRAMES  256
#define BATCHES 3

struct item {
    struct penstock__rx_frame *frame;
    size_t sample, samples, symbol; /* where its part of the batch begins */
};

struct batch {
    penstock_cf32 *samples;
    penstock_ofdm_symbol *symbols;
    int8_t *soft;
    penstock_cf32 *points;
    struct item *items; /* one a frame */
    penstock_ofdm_frame *frames;
    size_t item_count, sample_count, symbol_count;
};

struct penstock__rx_batches {
    struct batch batch[BATCHES];
};

void penstock__rx_batches_free(struct penstock__rx_batches *batches)
{
    for (unsigned i = 0; batches && i < BATCHES; i++) {
        struct batch *batch = &batches->batch[i];
        penstock__free(batch->samples);
        penstock__free(batch->symbols);
        penstock__free(batch->soft);
        penstock__free(batch->points);
        penstock__free(batch->items);
        penstock__free(batch->frames);
    }
    penstock__free(batches);
}

static int make(struct batch *batch, const struct penstock__rx_standard *standard)
{
    const size_t carriers = standard->carriers, margins = standard->head + standard->margin;
    batch->samples = penstock__alloc((SYMBOLS * standard->symbol + FRAMES * margins) * sizeof *batch->samples);
    batch->symbols = penstock__calloc(SYMBOLS, sizeof *batch->symbols);
    batch->soft = penstock__alloc(SYMBOLS * carriers * standard->bits);
    batch->points = penstock__alloc(SYMBOLS * carriers * sizeof *batch->points);
    batch->items = penstock__alloc(FRAMES * sizeof *batch->items);
    batch->frames = penstock__alloc(FRAMES * sizeof *batch->frames);
    return batch->samples && batch->symbols && batch->soft && batch->points && batch->items && batch->frames
               ? PENSTOCK_OK
               : PENSTOCK_ERR_MEMORY;
}

static int make_all(struct penstock__rx *rx)
{
    struct penstock__rx_batches *made = penstock__calloc(1, sizeof *made);
    int status = made ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    for (unsigned i = 0; i < BATCHES && !status; i++)
        status = make(&made->batch[i], rx->standard);
    if (status)
        penstock__rx_batches_free(made);
    else
        rx->batches = made;
    return status;
}

/* ---------------------------------------------------------------- the steps ------------------- */

/* What goes on at once: each may be NULL. */
struct stage {
    struct penstock__rx *rx;
    struct batch *prepared, *run, *finished;
    atomic_bool no_memory;
    int status; /* of the device */
    char error[256];
};

static void prepare(struct stage *stage, size_t index, unsigned worker)
{
    const struct penstock__rx *rx = stage->rx;
    const struct batch *batch = stage->prepared;
    const struct item *item = &batch->items[index];
    penstock_ofdm_symbol *symbols = batch->symbols + item->symbol;
    if (rx->standard->reserve(rx, item->frame)) {
        atomic_store(&stage->no_memory, true);
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

static void run(struct stage *stage)
{
    struct penstock__rx *rx = stage->rx;
    const struct batch *batch = stage->run;
    double began = penstock__now_s();
    stage->status =
        penstock_ofdm_run(rx->ofdm,
                          &PENSTOCK_OFDM_BATCH(.samples = batch->samples, .sample_count = batch->sample_count,
                                               .frames = batch->frames, .frame_count = batch->item_count,
                                               .symbols = batch->symbols, .symbol_count = batch->symbol_count),
                          &PENSTOCK_OFDM_RESULT(.soft = batch->soft, .points = batch->points));
    if (stage->status) {
        snprintf(stage->error, sizeof stage->error, "%s", penstock_error_text());
        return;
    }
    bool clock = penstock__ofdm_has_clock(rx->ofdm);
    penstock__meter_batch(&rx->stream.meter, batch->item_count, clock ? 0 : penstock__now_s() - began);
}

static void finish(const struct stage *stage, size_t index, unsigned worker)
{
    const struct penstock__rx *rx = stage->rx;
    const struct penstock__rx_standard *standard = rx->standard;
    const struct batch *batch = stage->finished;
    const struct item *item = &batch->items[index];
    void *own = rx->workers[worker].own;
    if (!penstock__rx_complete(rx, item->frame)) /* a slow clock: the frame goes on, as its pilots have told */
        return;
    standard->take(rx, own, item->frame, 0, item->frame->symbols,
                   batch->soft + item->symbol * standard->carriers * standard->bits,
                   batch->points + item->symbol * standard->carriers);
    standard->finish(rx, own, item->frame);
}

/* The device's batch first, then frames. */
static void work(void *argument, size_t index, unsigned worker)
{
    struct stage *stage = argument;
    const size_t device = stage->run ? 1 : 0, prepared = stage->prepared ? stage->prepared->item_count : 0;
    if (index < device)
        run(stage);
    else if (index < device + prepared)
        prepare(stage, index - device, worker);
    else
        finish(stage, index - device - prepared, worker);
}

/* ---------------------------------------------------------------- batches --------------------- */

/* As many complete frames as a batch holds, from `frame` on; returns the first that was left. */
static struct penstock__rx_frame *collect(const struct penstock__rx *rx, struct batch *batch,
                                          struct penstock__rx_frame *frame)
{
    const struct penstock__rx_standard *standard = rx->standard;
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

static int run_stage(struct stage *stage)
{
    struct penstock__rx *rx = stage->rx;
    const struct batch *finished = stage->finished;
    const size_t count = (stage->run ? 1 : 0) + (stage->prepared ? stage->prepared->item_count : 0) +
                         (finished ? finished->item_count : 0);
    penstock__parallel(rx->stream.context, count, work, stage);
    for (size_t i = 0; finished && i < finished->item_count; i++)
        if (finished->items[i].frame->state == PENSTOCK__RX_DONE)
            penstock__rx_count(rx, finished->items[i].frame);
    return stage->status ? penstock__error(stage->status, "%s", stage->error) : PENSTOCK_OK;
}

int penstock__rx_decode_batches(struct penstock__rx *rx)
{
    struct penstock__rx_frame *frame = rx->first;
    struct batch *prepared, *done = NULL, *sent = NULL;
    int status = rx->batches ? PENSTOCK_OK : make_all(rx), kept = PENSTOCK_OK;
    for (unsigned turn = 0; !status; turn = (turn + 1) % BATCHES) {
        prepared = &rx->batches->batch[turn];
        frame = collect(rx, prepared, frame);
        if (!prepared->item_count)
            prepared = NULL;
        if (!prepared && !sent && !done)
            break;
        struct stage stage = {.rx = rx, .prepared = prepared, .run = sent, .finished = done};
        status = run_stage(&stage);
        if (atomic_load(&stage.no_memory)) { /* those before it go on */
            kept = PENSTOCK_ERR_MEMORY;
            prepared = NULL;
            frame = NULL;
        }
        done = sent;
        sent = prepared;
    }
    return status || !kept ? status : penstock__error(kept, "receiver: no memory for what a frame gives");
}
