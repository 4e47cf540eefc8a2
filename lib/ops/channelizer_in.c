/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Samples into the filter bank: they gather as floats in one piece of memory along which the frames' windows move; what
 * is left of them goes back to its front when the end is reached. A device copies full windows from there.
 */
#include "core/context.h"
#include "ops/channelizer_stream.h"

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
    void *made;
    if (capacity < channelizer->end + front)
        capacity = channelizer->end + front;
    int status =
        penstock__host_block_new(&made, engine->context, device, (capacity + BANK_SLACK) * sizeof *channelizer->in);
    if (status)
        return status;
    penstock_cf32 *in = made;
    memset(in, 0, front * sizeof *in);
    if (channelizer->in) {
        penstock__channelizer_engine_settle(&channelizer->engine, SIZE_MAX);
        memcpy(in + front, channelizer->in, channelizer->end * sizeof *in);
        penstock_host_memory_free(engine->context, channelizer->in);
        channelizer->start += front;
        channelizer->end += front;
    }
    memset(in + channelizer->end, 0, (capacity + BANK_SLACK - channelizer->end) * sizeof *in);
    channelizer->in = in;
    channelizer->capacity = capacity;
    channelizer->widest = window;
    return PENSTOCK_OK;
}

/* What is in use goes to the front of the memory. */
static void to_front(struct channelizer *channelizer)
{
    size_t from = penstock__channelizer_oldest(channelizer);
    if (!from)
        return;
    penstock__channelizer_engine_moved(&channelizer->engine);
    penstock__channelizer_engine_settle(&channelizer->engine, channelizer->end - from);
    memmove(channelizer->in, channelizer->in + from, (channelizer->end - from) * sizeof *channelizer->in);
    channelizer->start -= from;
    channelizer->end -= from;
}

/* How many samples there is room for, after that; it goes not before as much has left. */
static size_t make_way(struct channelizer *channelizer)
{
    size_t from = penstock__channelizer_oldest(channelizer);
    if (channelizer->end == channelizer->capacity && from >= channelizer->end - from)
        to_front(channelizer);
    if (channelizer->end == channelizer->capacity)
        return 0;
    penstock__channelizer_engine_settle(&channelizer->engine, channelizer->end + 1);
    size_t end = penstock__channelizer_engine_free_up_to(&channelizer->engine);
    return (end < channelizer->capacity ? end : channelizer->capacity) - channelizer->end;
}

/* ---------------------------------------------------------------- full windows ---------------- */

static size_t all_windows(const struct channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    size_t filled = channelizer->end - channelizer->start;
    return filled < bank->window ? 0 : (filled - bank->window) / bank->hop + 1;
}

size_t penstock__channelizer_full_windows(const struct channelizer *channelizer)
{
    size_t full = all_windows(channelizer);
    uint64_t alike = channelizer->changes ? channelizer->changes->frame - channelizer->folded : full;
    return full < alike ? full : (size_t)alike;
}

static bool overdue(const struct channelizer *channelizer)
{
    double limit = channelizer->engine.max_latency_s;
    return limit > 0 && channelizer->since > 0 && penstock__now_s() - channelizer->since >= limit;
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
                                                   channelizer->folded < channelizer->flush_to || overdue(channelizer),
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

/* ---------------------------------------------------------------- samples in ------------------ */

/* How many samples there is room for; where there is none, what waits for more is sent. */
static int find_room(struct channelizer *channelizer, size_t *room)
{
    int status = PENSTOCK_OK;
    if (!(*room = make_way(channelizer))) {
        status = penstock__channelizer_send(channelizer, true);
        *room = make_way(channelizer);
    }
    return status;
}

/* As many of `count` samples as there is room for, a batch at a time. */
static int take_in(struct channelizer *channelizer, const void *samples, penstock_format format, size_t count,
                   size_t *taken)
{
    const struct channelizer_engine *engine = &channelizer->engine;
    size_t room, most = engine->capacity ? engine->capacity * engine->bank.hop : SIZE_MAX;
    int status = PENSTOCK_OK;
    while (*taken < count && !status && !(status = find_room(channelizer, &room)) && room) {
        size_t chunk = count - *taken < room ? count - *taken : room;
        chunk = chunk < most ? chunk : most;
        penstock__convert_all(engine->context, channelizer->in + channelizer->end, samples, format, *taken, chunk,
                              count);
        channelizer->end += chunk;
        *taken += chunk;
        status = penstock__channelizer_send(channelizer, false);
    }
    return status;
}

int penstock__channelizer_take_rest(struct channelizer *channelizer)
{
    struct penstock__rest *rest = &channelizer->rest;
    size_t count = penstock__rest_count(rest), taken = 0;
    int status = count ? take_in(channelizer, rest->samples + rest->first, PENSTOCK_CF32, count, &taken) : PENSTOCK_OK;
    rest->first += taken;
    return status;
}

static int take_push(struct channelizer *channelizer, const void *samples, size_t count, size_t *taken)
{
    bool planar = channelizer->desc.format == PENSTOCK_PLANAR;
    int status = penstock__channelizer_take_rest(channelizer);
    if (status || penstock__rest_count(&channelizer->rest))
        return status;
    if ((planar && (status = penstock__rest_reserve(&channelizer->rest, count))) ||
        (status = take_in(channelizer, samples, channelizer->desc.format, count, taken)))
        return status;
    if (planar && *taken < count)
        penstock__rest_keep(&channelizer->rest, samples, count, taken);
    return PENSTOCK_OK;
}

int penstock__channelizer_push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    penstock__channelizer_collect(channelizer_of(stream));
    return take_push(channelizer_of(stream), in->whole, count, taken);
}

int penstock__channelizer_acquire(penstock_stream *stream, void **to, size_t *room)
{
    struct channelizer *channelizer = channelizer_of(stream);
    const struct channelizer_engine *engine = &channelizer->engine;
    penstock__channelizer_collect(channelizer);
    int status = find_room(channelizer, room);
    if (engine->capacity && *room > engine->capacity * engine->bank.hop)
        *room = engine->capacity * engine->bank.hop;
    *to = channelizer->in + channelizer->end;
    return status;
}

int penstock__channelizer_commit(penstock_stream *stream, size_t count)
{
    channelizer_of(stream)->end += count;
    return penstock__channelizer_send(channelizer_of(stream), false);
}

/* ---------------------------------------------------------------- the end --------------------- */

/* Frames that a stream of `samples` makes. */
static uint64_t count_frames(const struct channelizer *channelizer)
{
    const penstock_channelizer_desc *desc = &channelizer->desc;
    uint64_t more = desc->tail && channelizer->stream.taken ? desc->tap_count - 1 - desc->advance : 0;
    return (channelizer->stream.taken + more + desc->hop - 1) / desc->hop;
}

/* Zeros that the last windows lack, as far as there is room. */
static void fill_up(struct channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    uint64_t left = channelizer->total - channelizer->folded;
    if (!left)
        return;
    to_front(channelizer);
    uint64_t wanted = channelizer->start + (left - 1) * bank->hop + bank->window;
    size_t whole = wanted < channelizer->capacity ? (size_t)wanted : channelizer->capacity;
    if (channelizer->end < whole) {
        penstock__channelizer_engine_settle(&channelizer->engine, whole);
        memset(channelizer->in + channelizer->end, 0, (whole - channelizer->end) * sizeof *channelizer->in);
        channelizer->end = whole;
    }
}

int penstock__channelizer_end_input(struct channelizer *channelizer)
{
    int status = penstock__channelizer_take_rest(channelizer);
    if (status || penstock__rest_count(&channelizer->rest))
        return status;
    if (!penstock__channelizer_full_windows(channelizer))
        fill_up(channelizer);
    return penstock__channelizer_send(channelizer, true);
}

int penstock__channelizer_flush(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    channelizer->flush_to = channelizer->folded + all_windows(channelizer);
    return penstock__channelizer_send(channelizer, false);
}

int penstock__channelizer_finish(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    if (!stream->finished)
        channelizer->total = count_frames(channelizer);
    stream->finished = true;
    return penstock__channelizer_end_input(channelizer);
}
