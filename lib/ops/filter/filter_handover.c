/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From the CPU to the device that is ready by now, between two blocks of a filter. */
#include "ops/filter/filter_check.h"
#include "ops/filter/filter_stream.h"

#include <string.h>

/* ---------------------------------------------------------------- orders ---------------------- */

static const void *copied(const void *from, size_t bytes)
{
    void *to = penstock__alloc(bytes);
    return to ? memcpy(to, from, bytes) : NULL;
}

static int copy_channel(penstock_filter_channel *to, const penstock_filter_channel *from)
{
    *to = *from;
    if (from->taps)
        to->taps = copied(from->taps, from->tap_count * sizeof *from->taps);
    else
        to->real_taps = copied(from->real_taps, from->tap_count * sizeof *from->real_taps);
    return to->taps || to->real_taps ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

int penstock__filter_order_new(struct filter_order **order, penstock_context *context, const penstock_filter_desc *desc)
{
    size_t count = penstock__filter_channels(desc);
    struct filter_order *made = penstock__calloc(1, sizeof *made);
    int status = PENSTOCK_OK;
    *order = NULL;
    if (!made || !(made->channels = penstock__calloc(count, sizeof *made->channels))) {
        penstock__free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    made->context = context;
    made->desc = *desc;
    for (size_t c = 0; c < count && !status; c++) {
        penstock_filter_channel channel = penstock__filter_channel_of(desc, c);
        status = copy_channel(&made->channels[c], &channel);
    }
    if (status) {
        penstock__filter_order_free(made);
        return status;
    }
    made->desc.channels = made->channels;
    if (!desc->channel_count) {
        made->desc.taps = made->channels[0].taps;
        made->desc.real_taps = made->channels[0].real_taps;
    }
    *order = made;
    return PENSTOCK_OK;
}

void penstock__filter_order_free(struct filter_order *order)
{
    if (!order)
        return;
    for (size_t c = 0; c < penstock__filter_channels(&order->desc); c++) {
        penstock__free((void *)(uintptr_t)order->channels[c].taps);
        penstock__free((void *)(uintptr_t)order->channels[c].real_taps);
    }
    penstock__free(order->channels);
    penstock__free(order);
}

/* ---------------------------------------------------------------- taps ------------------------ */

/* A line's taps in the other filter's shape, which has those that both began with. */
static int take_taps(struct filter_line *to, const struct filter_line *from, const struct filter_shape *shape)
{
    struct filter_taps *last = to->taps;
    for (const struct filter_taps *taps = from->taps; taps; taps = taps->next) {
        struct filter_taps *made;
        if (taps->first)
            continue;
        int status = penstock__filter_taps_new(&made, shape, taps->shift, taps->given_real ? NULL : taps->given,
                                               taps->given_real ? taps->given : NULL, taps->count);
        if (status)
            return status;
        made->from = taps->from;
        last->next = made;
        if ((status = penstock__filter_taps_rotate(made, shape, last, to->phase != 0)) ||
            (shape->rotated && (status = penstock__filter_taps_keep(made, taps->given_real ? NULL : taps->given,
                                                                    taps->given_real ? taps->given : NULL))))
            return status;
        last = made;
    }
    to->newest = last;
    if (!from->taps->first) /* those are gone */
        penstock__filter_drop_taps(to, to->taps->next);
    return PENSTOCK_OK;
}

static int take_all_taps(struct filter_stream *to, const struct filter_stream *from)
{
    int status = PENSTOCK_OK;
    for (size_t c = 0; c < from->channels && !status; c++)
        status = take_taps(&to->lines[c], &from->lines[c], to->shape);
    return status;
}

/* ---------------------------------------------------------------- samples --------------------- */

/* Samples of a frame before its block. */
static size_t before_block(const struct filter_shape *shape)
{
    return shape->history - shape->advance / shape->interpolation;
}

/* The last `count` samples that have come. */
static void copy_last(char *to, const struct filter_stream *from, penstock_format format, size_t count)
{
    const struct filter_shape *shape = from->shape;
    size_t first = from->filled - count;
    if (format == shape->format)
        memcpy(to, from->in + first * shape->sample_bytes, count * shape->sample_bytes);
    else
        penstock__convert((penstock_cf32 *)(void *)to, from->in, shape->format, first, count, from->filled);
}

/* Its first block begins where our last one ended. Of the samples before, both frames hold at least those that the taps
 * reach; what one holds beyond makes no difference to the values. */
static int take_samples(struct filter_stream *to, const struct filter_stream *from)
{
    const struct filter_shape *shape = to->shape;
    size_t want = before_block(shape), have = before_block(from->shape), both = smaller(want, have);
    size_t count = both + from->filled - have, zeros = want - both;
    if (zeros + count > to->room) {
        int status = penstock__filter_buffers(to, zeros + count);
        if (status)
            return status;
        to->in = penstock__ring_last(&to->ring)->in;
    }
    memset(to->in, 0, zeros * shape->sample_bytes);
    copy_last(to->in + zeros * shape->sample_bytes, from, shape->format, count);
    to->filled = zeros + count;
    penstock__filter_engine_start(to->engine, from->shape->origin + from->blocks * from->shape->block);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- handover -------------------- */

#define SWAP(type, a, b) \
    do {                 \
        type kept = a;   \
        a = b;           \
        b = kept;        \
    } while (0)

/* What goes with a device. */
static void swap_works(struct filter_stream *a, struct filter_stream *b)
{
    SWAP(struct filter_engine *, a->engine, b->engine);
    SWAP(const struct filter_shape *, a->shape, b->shape);
    SWAP(struct filter_line *, a->lines, b->lines);
    SWAP(struct penstock__ring, a->ring, b->ring);
    SWAP(size_t, a->room, b->room);
    SWAP(char *, a->in, b->in);
    SWAP(size_t, a->whole, b->whole);
    SWAP(size_t, a->most, b->most);
    SWAP(size_t, a->filled, b->filled);
    SWAP(char *, a->made, b->made);
    SWAP(size_t, a->made_blocks, b->made_blocks);
}

static void take_over(struct filter_stream *filter, struct filter_stream *other)
{
    swap_works(filter, other);
    filter->stream.lends_in = filter->shape->format == filter->desc.format;
    filter->blocks = 0;
    filter->ready = filter->given = 0;
    size_t complete = penstock__filter_blocks_in(filter, filter->filled);
    filter->due = filter->filled >= filter->whole ? complete : 0;
    if (!complete)
        filter->complete = 0;
    else if (filter->complete == 0 && filter->desc.max_latency_s > 0)
        filter->complete = penstock__now_s();
    penstock__filter_engine_set_event_times(filter->engine, &filter->stream.meter.event_times);
    penstock__went_over(&filter->standby, filter->stream.context, penstock__filter_engine_device(filter->engine));
    penstock__filter_queue_send(filter);
}

/* Nothing that was made waits to be pulled, and of the next block nothing has been. */
static bool between_blocks(const struct filter_stream *filter)
{
    return filter->given == filter->ready && !filter->early && !filter->stream.finished &&
           filter->filled >= before_block(filter->shape);
}

void penstock__filter_collect(struct filter_stream *filter)
{
    struct filter_stream *other;
    void *made;
    if ((!filter->build && !filter->order) || !between_blocks(filter))
        return;
    bool there = penstock__async_build_collect(&filter->build, &filter->standby, filter->stream.context, &made);
    other = made;
    if (there && (take_all_taps(other, filter) || take_samples(other, filter)))
        penstock__stayed(&filter->standby, filter->stream.context, penstock__filter_engine_device(other->engine));
    else if (there)
        take_over(filter, other);
    if (other)
        penstock__stream_free(&other->stream);
    if (filter->build || penstock__standby_waits(&filter->standby))
        return;
    penstock__filter_order_free(filter->order);
    filter->order = NULL;
}
