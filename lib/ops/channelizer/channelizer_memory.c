/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The samples of the filter bank: they gather in one piece of memory along which the frames' windows move; what is left
 * of them goes back to its front when the end is reached. A device copies full windows from there, of samples as they
 * are pushed where it converts them itself, else of floats.
 */
#include "core/base/context.h"
#include "core/stream/latency.h"
#include "ops/channelizer/channelizer_stream.h"

#include <string.h>

/* Samples that may gather besides a window, at least, and for each of several threads. */
#define ROOM_SAMPLES ((size_t)1 << 16)

/* Batches that lie in the memory besides those of the ring: when its end is reached, those at its front are done. */
#define MORE_BATCHES 2

/* ---------------------------------------------------------------- memory ---------------------- */

/* Values for windows of `window` samples: those of a batch, and as much again as must be moved to the front. */
static size_t room_for(const struct channelizer_engine *engine, size_t window)
{
    size_t threads = penstock__threads(engine->context), batch = engine->item * threads * engine->bank.hop;
    if (engine->folds)
        batch = (engine->ring.count + MORE_BATCHES) * engine->capacity * engine->bank.hop;
    else if (engine->capacity)
        batch = 2 * engine->capacity * engine->bank.hop;
    return 2 * window + (batch > threads * ROOM_SAMPLES ? batch : threads * ROOM_SAMPLES);
}

int penstock__channelizer_relocate(struct channelizer *channelizer, const struct channelizer_engine *engine,
                                   size_t window)
{
    bool whole = channelizer->in && penstock__channelizer_is_whole(channelizer);
    size_t front = whole ? window - channelizer->widest : 0, capacity = room_for(engine, window) + front;
    struct penstock_device *device = engine->folds ? penstock__channelizer_engine_memory(engine) : NULL;
    const size_t bytes = penstock__channelizer_engine_sample(engine);
    void *made;
    if (capacity < channelizer->end + front)
        capacity = channelizer->end + front;
    int status = penstock__host_block_new(&made, engine->context, device, (capacity + BANK_SLACK) * bytes);
    if (status)
        return status;
    char *in = made;
    memset(in, 0, front * bytes);
    if (channelizer->in) {
        penstock__channelizer_engine_settle(&channelizer->engine, SIZE_MAX);
        memcpy(in + front * bytes, channelizer->in, channelizer->end * bytes);
        penstock_host_memory_free(engine->context, channelizer->in);
        channelizer->start += front;
        channelizer->end += front;
    }
    memset(in + channelizer->end * bytes, 0, (capacity + BANK_SLACK - channelizer->end) * bytes);
    channelizer->in = in;
    channelizer->capacity = capacity;
    channelizer->widest = window;
    return PENSTOCK_OK;
}

void penstock__channelizer_to_front(struct channelizer *channelizer)
{
    size_t from = penstock__channelizer_oldest(channelizer);
    if (!from)
        return;
    penstock__channelizer_engine_moved(&channelizer->engine);
    penstock__channelizer_engine_settle(&channelizer->engine, channelizer->end - from);
    memmove(channelizer->in, penstock__channelizer_sample(channelizer, from),
            (channelizer->end - from) * penstock__channelizer_engine_sample(&channelizer->engine));
    channelizer->start -= from;
    channelizer->end -= from;
}

size_t penstock__channelizer_make_way(struct channelizer *channelizer)
{
    size_t from = penstock__channelizer_oldest(channelizer);
    if (channelizer->end == channelizer->capacity && from >= channelizer->end - from)
        penstock__channelizer_to_front(channelizer);
    if (channelizer->end == channelizer->capacity)
        return 0;
    penstock__channelizer_engine_settle(&channelizer->engine, channelizer->end + 1);
    size_t end = penstock__channelizer_engine_free_up_to(&channelizer->engine);
    end = end < channelizer->capacity ? end : channelizer->capacity;
    return end > channelizer->end ? end - channelizer->end : 0;
}

/* ---------------------------------------------------------------- full windows ---------------- */

size_t penstock__channelizer_all_windows(const struct channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    size_t filled = channelizer->end - channelizer->start;
    return filled < bank->window ? 0 : (filled - bank->window) / bank->hop + 1;
}

size_t penstock__channelizer_full_windows(const struct channelizer *channelizer)
{
    size_t full = penstock__channelizer_all_windows(channelizer);
    uint64_t alike = channelizer->changes ? channelizer->changes->frame - channelizer->folded : full;
    return full < alike ? full : (size_t)alike;
}

static bool held_back(const struct channelizer *channelizer)
{
    return channelizer->shared && !channelizer->stream.finished;
}

size_t penstock__channelizer_most(const struct channelizer *channelizer)
{
    const struct channelizer_engine *engine = &channelizer->engine;
    const struct channel_bank *bank = &engine->bank;
    const size_t gathered = channelizer->end - channelizer->start;
    if (!engine->capacity)
        return SIZE_MAX;
    if (!held_back(channelizer))
        return engine->capacity * bank->hop;
    const size_t whole = (engine->capacity - 1) * bank->hop + bank->window;
    return gathered < whole ? whole - gathered : 0;
}

bool penstock__channelizer_overdue(const struct channelizer *channelizer)
{
    return penstock__latency_is_over(channelizer->since, channelizer->engine.max_latency_s);
}

int penstock__channelizer_send(struct channelizer *channelizer, bool all)
{
    struct channelizer_engine *engine = &channelizer->engine;
    size_t count, sent = 0;
    int status = PENSTOCK_OK;
    while (engine->capacity && !status && (count = penstock__channelizer_full_windows(channelizer))) {
        bool changes = channelizer->changes && channelizer->changes->frame == channelizer->folded + count;
        if (channelizer->since == 0)
            channelizer->since = penstock__now_s();
        struct channelizer_frames frames = {.in = channelizer->in,
                                            .start = channelizer->start,
                                            .count = count,
                                            .first = channelizer->folded,
                                            .all = all || changes || channelizer->stream.finished ||
                                                   channelizer->folded < channelizer->flush_to ||
                                                   penstock__channelizer_overdue(channelizer),
                                            .since = channelizer->since};
        status = penstock__channelizer_engine_send(engine, &frames, &sent);
        if (sent)
            channelizer->since = 0;
        penstock__channelizer_leave(channelizer, sent);
        if (!sent)
            break;
    }
    return status;
}

int penstock__channelizer_offer(struct channelizer *channelizer, bool all)
{
    if (!held_back(channelizer))
        return penstock__channelizer_send(channelizer, all);
    if (channelizer->since == 0 && penstock__channelizer_all_windows(channelizer))
        channelizer->since = penstock__now_s();
    return PENSTOCK_OK;
}
