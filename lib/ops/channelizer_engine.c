/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of the filter bank by the polyphase sums and a child FFT plan. */
#include "ops/channelizer_engine.h"
#include "ops/fft.h"

#include <string.h>

/* Values of the frames that a thread takes at a time: their sums and transforms stay in its cache, and are some ten
 * microseconds of work, against the few that it takes to hand them out. */
#define ITEM_VALUES 8192

#define BATCH_BYTES ((size_t)8 << 20)

/* ---------------------------------------------------------------- life ------------------------ */

static int make_plan(struct channelizer_engine *engine, penstock_plan **plan, bool in_rows, const char *device)
{
    return penstock__fft_plan_there(plan, engine->context,
                                    &PENSTOCK_FFT_DESC(.n = engine->bank.channels, .batch = in_rows ? engine->item : 0,
                                                       .load = {.spacing = in_rows ? engine->bank.stride : 0}),
                                    device);
}

/* The device's plan; where it is the CPU's, one a thread that reads rows. */
static int make_plans(struct channelizer_engine *engine, double max_latency_s, const char *device)
{
    unsigned threads = penstock__threads(engine->context);
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status;
    if (!(engine->plans = penstock__calloc(threads, sizeof *engine->plans)))
        return PENSTOCK_ERR_MEMORY;
    engine->plan_count = 1;
    if ((status = make_plan(engine, &engine->plans[0], false, device)) ||
        (status = penstock_plan_get_info(engine->plans[0], &info)))
        return status;
    if (strcmp(info.device, "cpu"))
        return penstock__batcher_new(&engine->batcher, engine->plans[0], BATCH_BYTES, max_latency_s);
    penstock_plan_free(engine->plans[0]);
    engine->plans[0] = NULL;
    engine->plan_count = threads;
    for (unsigned i = 0; i < threads; i++)
        if ((status = make_plan(engine, &engine->plans[i], true, "cpu")))
            return status;
    return PENSTOCK_OK;
}

int penstock__channelizer_engine_init(struct channelizer_engine *engine, double max_latency_s, const char *device)
{
    const struct channel_bank *bank = &engine->bank;
    size_t together = bank->kernels->frames;
    int status;
    engine->item = (ITEM_VALUES / bank->channels + together - 1) / together * together;
    if (!engine->item)
        engine->item = together;
    if ((status = make_plans(engine, max_latency_s, device)))
        return status;
    engine->scratch_values = engine->item * (bank->stride + bank->channels);
    engine->scratch_values = (engine->scratch_values + FOLD_WIDTH - 1) / FOLD_WIDTH * FOLD_WIDTH;
    engine->scratch =
        penstock__alloc(penstock__threads(engine->context) * engine->scratch_values * sizeof *engine->scratch);
    engine->statuses = penstock__calloc(penstock__threads(engine->context), sizeof *engine->statuses);
    return engine->scratch && engine->statuses ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

void penstock__channelizer_engine_free(struct channelizer_engine *engine)
{
    penstock__batcher_free(engine->batcher);
    for (unsigned i = 0; i < engine->plan_count; i++)
        penstock_plan_free(engine->plans[i]);
    penstock__free(engine->plans);
    penstock__free(engine->scratch);
    penstock__free(engine->statuses);
}

/* ---------------------------------------------------------------- values out ------------------ */

/* All channels, each to its stream, in squares whose rows and columns are lines of the cache. */
static void take_apart(const penstock_cf32 *frames, size_t channels, size_t count, void *const *streams, size_t at)
{
    enum { SIDE = 8 };
    for (size_t first = 0; first < count; first += SIDE) {
        size_t some = count - first < SIDE ? count - first : SIDE;
        const penstock_cf32 *from = frames + first * channels;
        for (size_t c = 0; c < channels; c++) {
            penstock_cf32 *to = (penstock_cf32 *)streams[c] + at + first;
            for (size_t f = 0; f < some; f++)
                to[f] = from[f * channels + c];
        }
    }
}

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
        take_apart(frames, channels, count, sink->streams, at);
    for (size_t c = 0; c < kept && sink->streams && select; c++)
        for (size_t f = 0; f < count; f++)
            ((penstock_cf32 *)sink->streams[c])[at + f] = frames[f * channels + select[c]];
}

/* ---------------------------------------------------------------- the CPU --------------------- */

struct work {
    struct channelizer_engine *engine;
    const penstock_cf32 *in;
    uint64_t first;
    size_t count;
    const struct frame_sink *sink; /* or, for the batcher, */
    penstock_cf32 *batch;          /* folded frames one after the other */
    size_t at;
};

static void make_item(void *argument, size_t item, unsigned worker)
{
    const struct work *work = argument;
    struct channelizer_engine *engine = work->engine;
    const struct channel_bank *bank = &engine->bank;
    size_t first = item * engine->item, left = work->count - first, count = left < engine->item ? left : engine->item;
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
    penstock__parallel(engine->context, (count + engine->item - 1) / engine->item, make_item,
                       &(struct work){engine, in, first, count, sink, NULL, at});
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
    size_t first = item * engine->item, left = work->count - first, count = left < engine->item ? left : engine->item;
    penstock_cf32 *rows = engine->scratch + worker * engine->scratch_values;
    penstock__channel_bank_fold(bank, rows, work->in + first * bank->hop, work->first + first, count);
    for (size_t f = 0; f < count; f++)
        memcpy(work->batch + (first + f) * bank->channels, rows + f * bank->stride,
               bank->channels * sizeof *work->batch);
}

int penstock__channelizer_engine_send(struct channelizer_engine *engine, const penstock_cf32 *in, uint64_t first,
                                      size_t count, size_t *sent)
{
    const struct channel_bank *bank = &engine->bank;
    *sent = 0;
    while (*sent < count) {
        size_t room;
        void *to;
        int status = penstock__batcher_room(engine->batcher, &to, &room);
        if (status || !room)
            return status;
        size_t some = room / bank->channels < count - *sent ? room / bank->channels : count - *sent;
        penstock__parallel(engine->context, (some + engine->item - 1) / engine->item, fold_item,
                           &(struct work){engine, in + *sent * bank->hop, first + *sent, some, NULL, to, 0});
        *sent += some;
        if ((status = penstock__batcher_commit(engine->batcher, some * bank->channels)))
            return status;
    }
    return PENSTOCK_OK;
}

static void deliver_item(void *argument, size_t item, unsigned worker)
{
    const struct work *work = argument;
    size_t first = item * work->engine->item, left = work->count - first;
    (void)worker;
    deliver(work->engine, work->in + first * work->engine->bank.channels,
            left < work->engine->item ? left : work->engine->item, work->sink, work->at + first);
}

int penstock__channelizer_engine_take(struct channelizer_engine *engine, bool wait, const struct frame_sink *sink,
                                      size_t at, size_t count, size_t *taken)
{
    const void *from;
    size_t some = 0;
    int status = penstock__batcher_ready(engine->batcher, wait, &from, &some);
    *taken = 0;
    if (status || !some)
        return status;
    *taken = some < count ? some : count;
    penstock__parallel(engine->context, (*taken + engine->item - 1) / engine->item, deliver_item,
                       &(struct work){engine, from, 0, *taken, sink, NULL, at});
    penstock__batcher_release(engine->batcher, *taken);
    return PENSTOCK_OK;
}
