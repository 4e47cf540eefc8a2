/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples into the filter bank, and their end. */
#include "ops/channelizer/channelizer_stream.h"

#include <string.h>

/* ---------------------------------------------------------------- samples in ------------------ */

/* How many samples can come at a time; where there is no room, what waits for more is sent. */
static int find_room(struct channelizer *channelizer, size_t *room)
{
    int status = PENSTOCK_OK;
    if (!(*room = penstock__channelizer_make_way(channelizer))) {
        status = penstock__channelizer_offer(channelizer, true);
        *room = penstock__channelizer_make_way(channelizer);
    }
    const size_t most = penstock__channelizer_most(channelizer);
    *room = *room < most ? *room : most;
    return status;
}

/* `count` samples behind those that gather, from number `first` of a push of `total`. */
static void put_in(struct channelizer *channelizer, const void *samples, penstock_format format, size_t first,
                   size_t count, size_t total)
{
    const size_t bytes = penstock__channelizer_engine_sample(&channelizer->engine);
    void *to = penstock__channelizer_sample(channelizer, channelizer->end);
    if (format == channelizer->engine.format)
        penstock__copy(channelizer->stream.context, to, (const char *)samples + first * bytes, count * bytes);
    else
        penstock__convert_all(channelizer->stream.context, to, samples, format, first, count, total);
}

/* As many of `count` samples as there is room for, a batch at a time. */
static int take_in(struct channelizer *channelizer, const void *samples, penstock_format format, size_t count,
                   size_t *taken)
{
    size_t room;
    int status = PENSTOCK_OK;
    while (*taken < count && !status && !(status = find_room(channelizer, &room)) && room) {
        size_t chunk = count - *taken < room ? count - *taken : room;
        put_in(channelizer, samples, format, *taken, chunk, count);
        channelizer->end += chunk;
        *taken += chunk;
        status = penstock__channelizer_offer(channelizer, false);
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

int penstock__channelizer_take_in(struct channelizer *channelizer, const void *samples, size_t total, size_t *taken)
{
    bool planar = channelizer->desc.format == PENSTOCK_PLANAR;
    int status = penstock__channelizer_take_rest(channelizer);
    if (status || penstock__rest_count(&channelizer->rest))
        return status;
    if ((planar && (status = penstock__rest_reserve(&channelizer->rest, total))) ||
        (status = take_in(channelizer, samples, channelizer->desc.format, total, taken)))
        return status;
    if (planar && *taken < total)
        penstock__rest_keep(&channelizer->rest, samples, total, taken);
    return PENSTOCK_OK;
}

int penstock__channelizer_push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    penstock__channelizer_collect(channelizer_of(stream));
    return penstock__channelizer_take_in(channelizer_of(stream), in->whole, count, taken);
}

int penstock__channelizer_acquire(penstock_stream *stream, void **to, size_t *room)
{
    struct channelizer *channelizer = channelizer_of(stream);
    penstock__channelizer_collect(channelizer);
    int status = find_room(channelizer, room);
    *to = penstock__channelizer_sample(channelizer, channelizer->end);
    return status;
}

int penstock__channelizer_commit(penstock_stream *stream, size_t count)
{
    channelizer_of(stream)->end += count;
    return penstock__channelizer_offer(channelizer_of(stream), false);
}

/* ---------------------------------------------------------------- the end --------------------- */

uint64_t penstock__channelizer_total(const struct channelizer *channelizer)
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
    penstock__channelizer_to_front(channelizer);
    uint64_t wanted = channelizer->start + (left - 1) * bank->hop + bank->window;
    size_t whole = wanted < channelizer->capacity ? (size_t)wanted : channelizer->capacity;
    if (channelizer->end < whole) {
        penstock__channelizer_engine_settle(&channelizer->engine, whole);
        memset(penstock__channelizer_sample(channelizer, channelizer->end), 0,
               (whole - channelizer->end) * penstock__channelizer_engine_sample(&channelizer->engine));
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
    channelizer->flush_to = channelizer->folded + penstock__channelizer_all_windows(channelizer);
    return penstock__channelizer_offer(channelizer, false);
}

int penstock__channelizer_finish(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    if (!stream->finished)
        channelizer->total = penstock__channelizer_total(channelizer);
    stream->finished = true;
    return penstock__channelizer_end_input(channelizer);
}
