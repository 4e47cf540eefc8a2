/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames out of the filter bank, and samples in and frames out at once. */
#include "ops/channelizer/channelizer_stream.h"

#define LITTLE         4              /* a window that is copied again with each piece is this part of it at most */
#define THREAD_SAMPLES ((size_t)8192) /* of a push for each thread: worth more than such windows cost */

/* ---------------------------------------------------------------- frames out ------------------ */

/* What can be sent is, before frames are asked for. */
static void prepare(struct channelizer *channelizer)
{
    if (channelizer->stream.finished)
        penstock__channelizer_end_input(channelizer); /* the engine keeps a failure until its turn comes */
    else if (!penstock__channelizer_take_rest(channelizer))
        penstock__channelizer_send(channelizer, false);
}

/* Frames of the device's oldest batch. */
static int take_sent(struct channelizer *channelizer, bool wait, const struct frame_sink *sink, size_t at, size_t count,
                     size_t *taken)
{
    struct channelizer_engine *engine = &channelizer->engine;
    const penstock_cf32 *from;
    size_t some;
    int status = penstock__channelizer_engine_ready(engine, wait || channelizer->stream.finished, &from, &some);
    if (status || !some)
        return status;
    *taken = some < count ? some : count;
    penstock__channelizer_engine_deliver(engine, from, *taken, sink, at);
    penstock__ring_release(&engine->ring, *taken);
    return PENSTOCK_OK;
}

/* The next `count` windows, as far as they are in our memory. */
static struct channelizer_windows windows_of(const struct channelizer *channelizer, size_t count)
{
    return (struct channelizer_windows){.in =
                                            (const void *)penstock__channelizer_sample(channelizer, channelizer->start),
                                        .held = channelizer->end - channelizer->start,
                                        .first = channelizer->folded,
                                        .count = count};
}

/* The next frames on the CPU. */
static int make(struct channelizer *channelizer, const struct channelizer_windows *windows,
                const struct frame_sink *sink, size_t at)
{
    double began = penstock__now_s();
    penstock__serve(&channelizer->standby, channelizer->build);
    int status = penstock__channelizer_engine_run(&channelizer->engine, windows, sink, at);
    penstock__served(&channelizer->standby, channelizer->build, windows->count);
    if (status)
        return status;
    penstock__meter_batch(&channelizer->stream.meter, windows->count, penstock__now_s() - began);
    channelizer->cpu_while_compiling += channelizer->build != NULL;
    penstock__channelizer_leave(channelizer, windows->count);
    return PENSTOCK_OK;
}

/* Some of the frames that can be had at once, at most `count`. */
static int take(struct channelizer *channelizer, bool wait, const struct frame_sink *sink, size_t at, size_t count,
                size_t *taken)
{
    *taken = 0;
    prepare(channelizer);
    if (channelizer->engine.capacity)
        return take_sent(channelizer, wait, sink, at, count, taken);
    size_t ready = penstock__channelizer_full_windows(channelizer), some = ready < count ? ready : count;
    if (channelizer->stream.finished && some > channelizer->total - channelizer->folded)
        some = (size_t)(channelizer->total - channelizer->folded);
    const struct channelizer_windows windows = windows_of(channelizer, some);
    int status = some ? make(channelizer, &windows, sink, at) : PENSTOCK_OK;
    *taken = status ? 0 : some;
    return status;
}

/* Frames from the `*count`th one on. An error that comes after frames comes again with the next call. */
static int take_all(struct channelizer *channelizer, bool wait, const struct frame_sink *sink, size_t capacity,
                    size_t *count)
{
    size_t before = *count, some = 1;
    int status = PENSTOCK_OK;
    penstock__channelizer_collect(channelizer);
    for (; some && *count < capacity && !status; *count += some)
        status = take(channelizer, wait, sink, *count, capacity - *count, &some);
    penstock__channelizer_gave(&channelizer->stream, *count - before);
    return *count > before ? PENSTOCK_OK : status;
}

int penstock__channelizer_pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait,
                               size_t *count)
{
    const struct frame_sink sink = {.frames = out->whole, .streams = out->channels};
    return take_all(channelizer_of(stream), wait, &sink, capacity, count);
}

/* On a device of its own, where all channels are wanted. */
int penstock__channelizer_peek(penstock_stream *stream, bool wait, const void **from, size_t *count)
{
    struct channelizer *channelizer = channelizer_of(stream);
    const penstock_cf32 *frames;
    prepare(channelizer);
    int status = penstock__channelizer_engine_ready(&channelizer->engine, wait || stream->finished, &frames, count);
    *from = frames;
    return status;
}

void penstock__channelizer_release(penstock_stream *stream, size_t count)
{
    struct channelizer *channelizer = channelizer_of(stream);
    penstock__ring_release(&channelizer->engine.ring, count);
    penstock__channelizer_send(channelizer, false);
    penstock__channelizer_gave(stream, count);
}

/* ---------------------------------------------------------------- both at once ---------------- */

/* Whether frames can be made of the caller's samples: our own are all parts of windows that are not full, a window is
 * little of what a thread takes at a time, and the rest of a push can be pushed by itself. One thread has what it
 * copied in its cache anyway. */
static bool can_run_across(const struct channelizer *channelizer)
{
    return penstock__threads(channelizer->stream.context) > 1 &&
           channelizer->engine.bank.window <= channelizer->engine.gathered / LITTLE && !channelizer->changes &&
           !channelizer->stream.finished && !penstock__channelizer_all_windows(channelizer) &&
           channelizer->desc.format != PENSTOCK_PLANAR;
}

/* Frames of the caller's samples, of which those from the next frame's window on are left to the caller. */
static int run_across(struct channelizer *channelizer, const void *samples, size_t count, size_t *taken,
                      const struct frame_sink *sink, size_t capacity, size_t *made)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    const size_t held = channelizer->end - channelizer->start, all = held + (count - *taken);
    size_t frames = all < bank->window ? 0 : (all - bank->window) / bank->hop + 1;
    frames = frames < capacity - *made ? frames : capacity - *made;
    if (frames * bank->hop < held + THREAD_SAMPLES * penstock__threads(channelizer->stream.context))
        return PENSTOCK_OK;
    struct channelizer_windows windows = windows_of(channelizer, frames);
    windows.more = samples;
    windows.format = channelizer->desc.format;
    windows.at = *taken;
    windows.total = count;
    int status = make(channelizer, &windows, sink, *made);
    if (status)
        return status;
    channelizer->start = channelizer->end = 0;
    *taken += frames * bank->hop - held;
    *made += frames;
    return PENSTOCK_OK;
}

int penstock__channelizer_run(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                              const struct penstock__room *out, size_t capacity, size_t *given)
{
    struct channelizer *channelizer = channelizer_of(stream);
    const struct frame_sink sink = {.frames = out->whole, .streams = out->channels};
    size_t took, gave;
    int status = PENSTOCK_OK;
    do {
        const double began = penstock__now_s();
        took = *taken;
        gave = *given;
        penstock__channelizer_collect(channelizer);
        if (can_run_across(channelizer))
            status = run_across(channelizer, in, count, taken, &sink, capacity, given);
        if (!status && *taken < count)
            status = penstock__channelizer_take_in(channelizer, in, count, taken);
        penstock__stream_took(stream, *taken - took, began);
        penstock__channelizer_gave(stream, *given - gave);
        int pulled = take_all(channelizer, false, &sink, capacity, given);
        status = pulled ? pulled : status;
    } while (!status && *taken + *given > took + gave);
    return *taken + *given ? PENSTOCK_OK : status;
}
