/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of the filter bank by the polyphase sums and an FFT plan. */
#include "ops/channelizer_engine.h"

#include <string.h>

/* ---------------------------------------------------------------- values out ------------------ */

/* `count` whole frames to where they are wanted. */
static void deliver(const struct channelizer_engine *engine, const penstock_cf32 *frames, size_t count,
                    const struct frame_sink *sink, size_t at)
{
    const size_t channels = engine->bank.channels, kept = engine->kept, *select = engine->select;
    if (sink->frames && !select) {
        memcpy(sink->frames + at * channels, frames, count * channels * sizeof *frames);
        return;
    }
    for (size_t f = 0; f < count && sink->frames; f++)
        for (size_t c = 0; c < kept; c++)
            sink->frames[(at + f) * kept + c] = frames[f * channels + select[c]];
    if (sink->streams && !select)
        engine->bank.kernels->take_apart(sink->streams, at, frames, channels, count);
    for (size_t c = 0; c < kept && sink->streams && select; c++)
        for (size_t f = 0; f < count; f++)
            ((penstock_cf32 *)sink->streams[c])[at + f] = frames[f * channels + select[c]];
}

/* ---------------------------------------------------------------- the CPU --------------------- */

/* Frames that a thread takes at a time: fewer where there are not enough for all. */
static size_t item_of(const struct channelizer_engine *engine, size_t count)
{
    size_t together = engine->bank.kernels->frames, fair = count / penstock__threads(engine->context) + together;
    fair -= fair % together;
    return fair < engine->item ? fair : engine->item;
}

struct work {
    struct channelizer_engine *engine;
    const penstock_cf32 *in;
    uint64_t first;
    size_t count, item;
    const struct frame_sink *sink; /* or */
    penstock_cf32 *batch;          /* folded frames one after the other */
    size_t at;
};

static size_t count_of(const struct work *work, size_t item)
{
    size_t left = work->count - item * work->item;
    return left < work->item ? left : work->item;
}

static void share(struct work *work, void (*run)(void *argument, size_t item, unsigned worker))
{
    work->item = item_of(work->engine, work->count);
    penstock__parallel(work->engine->context, (work->count + work->item - 1) / work->item, run, work);
}

static void make_item(void *argument, size_t item, unsigned worker)
{
    const struct work *work = argument;
    struct channelizer_engine *engine = work->engine;
    const struct channel_bank *bank = &engine->bank;
    size_t first = item * work->item, count = count_of(work, item);
    penstock_cf32 *rows = engine->scratch + worker * engine->scratch_values, *made = rows + engine->item * bank->stride;
    bool direct = work->sink->frames && !engine->select;
    if (direct)
        made = work->sink->frames + (work->at + first) * bank->channels;
    penstock__channel_bank_fold(bank, rows, work->in + first * bank->hop, work->first + first, count);
    int status = penstock_plan_run(engine->plans[worker], rows, made, count);
    if (status)
        engine->statuses[worker] = status;
    else if (!direct)
        deliver(engine, made, count, work->sink, work->at + first);
}

int penstock__channelizer_engine_run(struct channelizer_engine *engine, const penstock_cf32 *in, uint64_t first,
                                     size_t count, const struct frame_sink *sink, size_t at)
{
    int status = PENSTOCK_OK;
    share(&(struct work){.engine = engine, .in = in, .first = first, .count = count, .sink = sink, .at = at},
          make_item);
    for (unsigned i = 0; i < engine->plan_count; i++) {
        if (engine->statuses[i])
            status = penstock__error(engine->statuses[i], "channelizer: a transform failed on the CPU");
        engine->statuses[i] = PENSTOCK_OK;
    }
    return status;
}

/* ---------------------------------------------------------------- other devices --------------- */

static void fold_item(void *argument, size_t item, unsigned worker)
{
    const struct work *work = argument;
    const struct channelizer_engine *engine = work->engine;
    const struct channel_bank *bank = &engine->bank;
    size_t first = item * work->item, count = count_of(work, item);
    penstock_cf32 *rows = engine->scratch + worker * engine->scratch_values;
    penstock__channel_bank_fold(bank, rows, work->in + first * bank->hop, work->first + first, count);
    for (size_t f = 0; f < count; f++)
        memcpy(work->batch + (first + f) * bank->channels, rows + f * bank->stride,
               bank->channels * sizeof *work->batch);
}

void penstock__channelizer_engine_fold(struct channelizer_engine *engine, const penstock_cf32 *in, uint64_t first,
                                       size_t count, penstock_cf32 *rows)
{
    share(&(struct work){.engine = engine, .in = in, .first = first, .count = count, .batch = rows}, fold_item);
}

static void deliver_item(void *argument, size_t item, unsigned worker)
{
    const struct work *work = argument;
    size_t first = item * work->item;
    (void)worker;
    deliver(work->engine, work->in + first * work->engine->bank.channels, count_of(work, item), work->sink,
            work->at + first);
}

void penstock__channelizer_engine_deliver(struct channelizer_engine *engine, const penstock_cf32 *frames, size_t count,
                                          const struct frame_sink *sink, size_t at)
{
    share(&(struct work){.engine = engine, .in = frames, .count = count, .sink = sink, .at = at}, deliver_item);
}
