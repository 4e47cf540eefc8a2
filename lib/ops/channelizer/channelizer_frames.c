/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of the filter bank by the polyphase sums and an FFT plan. */
#include "ops/channelizer/channelizer_engine.h"

#include <string.h>

#define LEAST_VALUES 4096 /* that are worth another thread's attention */

/* ---------------------------------------------------------------- values out ------------------ */

/* `count` whole frames to where they are wanted; streams `past` the caches. */
static void deliver(const struct channelizer_engine *engine, const penstock_cf32 *frames, size_t count,
                    const struct frame_sink *sink, size_t at, bool past)
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
        engine->bank.kernels->take_apart(sink->streams, at, frames, channels, count, past);
    for (size_t c = 0; c < kept && sink->streams && select; c++)
        for (size_t f = 0; f < count; f++)
            ((penstock_cf32 *)sink->streams[c])[at + f] = frames[f * channels + select[c]];
}

/* ---------------------------------------------------------------- the CPU --------------------- */

/* Frames that a thread takes at a time, at most `most`. */
static size_t item_of(const struct channelizer_engine *engine, size_t count, size_t most)
{
    const size_t least = LEAST_VALUES / engine->bank.channels + 1,
                 share = penstock__fair_share(engine->context, count, least, most),
                 item = penstock__round_up(share, engine->bank.sums->frames);
    return item < most ? item : most;
}

/* The most that a thread takes at a time of windows with samples of the caller's. */
static size_t most_gathered(const struct channelizer_engine *engine)
{
    return (engine->gathered - BANK_SLACK - engine->bank.window) / engine->bank.hop + 1;
}

struct work {
    struct channelizer_engine *engine;
    const struct channelizer_windows *windows; /* or */
    const penstock_cf32 *frames;
    size_t count, item;
    const struct frame_sink *sink; /* or */
    penstock_cf32 *batch;          /* folded frames one after the other */
    size_t at;
};

static bool past_caches(const struct work *work)
{
    return work->count * work->engine->bank.channels * sizeof *work->frames >= PENSTOCK__GIVEN_BYTES;
}

static size_t count_of(const struct work *work, size_t item)
{
    size_t left = work->count - item * work->item;
    return left < work->item ? left : work->item;
}

static void share(struct work *work, void (*run)(void *argument, size_t item, unsigned worker))
{
    const struct channelizer_engine *engine = work->engine;
    const bool gathers = work->windows && work->windows->more;
    work->item = item_of(engine, work->count, gathers ? most_gathered(engine) : engine->item);
    penstock__parallel(work->engine->context, (work->count + work->item - 1) / work->item, run, work);
}

/* The samples of some of the work's windows: where they lie or, where some are the caller's, in the thread's own
 * memory. Caller's samples are aligned to nothing, and each is read as often as a channel has taps. */
static const penstock_cf32 *gather(const struct work *work, penstock_cf32 *to, size_t first, size_t count)
{
    const struct channelizer_windows *windows = work->windows;
    const struct channel_bank *bank = &work->engine->bank;
    const size_t start = first * bank->hop, samples = (count - 1) * bank->hop + bank->window;
    size_t own = start < windows->held ? windows->held - start : 0;
    if (!windows->more)
        return windows->in + start;
    own = own < samples ? own : samples;
    memcpy(to, windows->in + start, own * sizeof *to);
    if (own < samples)
        penstock__convert(to + own, windows->more, windows->format, windows->at + start + own - windows->held,
                          samples - own, windows->total);
    return to;
}

/* `count` frames, not more than an item, whose first one's window is `in`. */
static void make_frames(const struct work *work, unsigned worker, const penstock_cf32 *in, size_t first, size_t count)
{
    struct channelizer_engine *engine = work->engine;
    const struct channel_bank *bank = &engine->bank;
    penstock_cf32 *rows = engine->scratch + worker * engine->scratch_values, *made = rows + engine->item * bank->stride;
    bool direct = work->sink->frames && !engine->select;
    if (direct)
        made = work->sink->frames + (work->at + first) * bank->channels;
    penstock__channel_bank_fold(bank, rows, in, work->windows->first + first, count);
    int status = penstock_plan_run(engine->plans[worker], rows, made, count);
    if (status)
        engine->statuses[worker] = status;
    else if (!direct)
        deliver(engine, made, count, work->sink, work->at + first, past_caches(work));
}

static void make_item(void *argument, size_t item, unsigned worker)
{
    const struct work *work = argument;
    const struct channelizer_engine *engine = work->engine;
    const size_t first = item * work->item, count = count_of(work, item);
    penstock_cf32 *room = engine->scratch + (worker + 1) * engine->scratch_values - engine->gathered;
    const penstock_cf32 *in = gather(work, room, first, count);
    for (size_t done = 0, some; done < count; done += some) {
        some = count - done < engine->item ? count - done : engine->item;
        make_frames(work, worker, in + done * engine->bank.hop, first + done, some);
    }
}

int penstock__channelizer_engine_run(struct channelizer_engine *engine, const struct channelizer_windows *windows,
                                     const struct frame_sink *sink, size_t at)
{
    int status = PENSTOCK_OK;
    share(&(struct work){.engine = engine, .windows = windows, .count = windows->count, .sink = sink, .at = at},
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
    penstock__channel_bank_fold(bank, rows, work->windows->in + first * bank->hop, work->windows->first + first, count);
    for (size_t f = 0; f < count; f++)
        memcpy(work->batch + (first + f) * bank->channels, rows + f * bank->stride,
               bank->channels * sizeof *work->batch);
}

void penstock__channelizer_engine_fold(struct channelizer_engine *engine, const penstock_cf32 *in, uint64_t first,
                                       size_t count, penstock_cf32 *rows)
{
    const struct channelizer_windows windows = {.in = in, .count = count, .first = first};
    share(&(struct work){.engine = engine, .windows = &windows, .count = count, .batch = rows}, fold_item);
}

static void deliver_item(void *argument, size_t item, unsigned worker)
{
    const struct work *work = argument;
    size_t first = item * work->item;
    (void)worker;
    deliver(work->engine, work->frames + first * work->engine->bank.channels, count_of(work, item), work->sink,
            work->at + first, past_caches(work));
}

void penstock__channelizer_engine_deliver(struct channelizer_engine *engine, const penstock_cf32 *frames, size_t count,
                                          const struct frame_sink *sink, size_t at)
{
    share(&(struct work){.engine = engine, .frames = frames, .count = count, .sink = sink, .at = at}, deliver_item);
}
