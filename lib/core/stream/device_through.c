/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream in the middle of a chain on one device. */
#include "core/stream/device_link_state.h"
#include "core/stream/link.h"

static struct penstock__device_link *before(const penstock_stream *stream)
{
    return stream->source ? stream->source->device : NULL;
}

/* Values of a group. */
static size_t values_of(const penstock_stream *stream)
{
    return stream->out_bytes / sizeof(penstock_cf32);
}

static bool shape(const penstock_stream *stream, struct penstock__device_shape *shape)
{
    const struct penstock__device_link *link = before(stream);
    struct penstock__device_shape first;
    const struct penstock__batcher *batcher = link ? penstock__device_link_find(link, &first) : NULL;
    if (!batcher || !stream->lends_out)
        return false;
    const size_t capacity = penstock__batcher_capacity(batcher), /* and no more than come at a time */
        come = first.blocks * first.values / penstock__batcher_device_groups(batcher).step;
    *shape = (struct penstock__device_shape){.device = first.device,
                                             .values = values_of(stream),
                                             .blocks = come < capacity ? come : capacity,
                                             .batches = PENSTOCK__RING_USUAL,
                                             .unit = values_of(stream)};
    return true;
}

static size_t bytes(const penstock_stream *stream, size_t blocks)
{
    (void)stream, (void)blocks;
    return 0;
}

static void share(penstock_stream *stream, bool shared)
{
    struct penstock__device_link *link = before(stream);
    if (link)
        link->shared = shared;
}

static bool idle(const penstock_stream *stream)
{
    const struct penstock__device_link *link = before(stream);
    return !link->cut_count && penstock__batcher_device_idle(link->batcher);
}

static bool full(const penstock_stream *stream)
{
    const struct penstock__device_link *link = before(stream);
    return link && !stream->finished && penstock__device_link_groups(link) > 0;
}

static bool can_make(penstock_stream *stream)
{
    (void)stream;
    return true;
}

static bool room(const penstock_stream *stream)
{
    return before(stream)->part_count < PENSTOCK__RING_USUAL;
}

static bool overdue(const penstock_stream *stream)
{
    (void)stream;
    return false;
}

static size_t blocks_of(const penstock_stream *stream, size_t most)
{
    const size_t groups = penstock__device_link_groups(before(stream));
    return groups < most ? groups : most;
}

static unsigned number(const penstock_stream *stream)
{
    const struct penstock__device_link *link = before(stream);
    return (link->first_part + link->part_count) % PENSTOCK__RING_USUAL;
}

static int make(penstock_stream *stream, size_t blocks, penstock_buffer *in, penstock_buffer *out,
                penstock_queue *queue)
{
    struct penstock__device_link *link = before(stream);
    struct penstock__device_piece *piece = &link->pieces.pieces[link->piece];
    struct penstock__device_cut *part = &link->parts[number(stream)];
    (void)in;
    *part = (struct penstock__device_cut){.piece = link->piece, .groups = blocks};
    int status = penstock_queue_follow(queue, piece->queue);
    if (status || (status = penstock__device_piece_part(&part->in, &link->pieces, link->piece,
                                                        penstock__groups_samples(&link->groups, blocks))))
        return status;
    if ((status = penstock__batcher_device_make(link->batcher, part->in, out, blocks, queue))) {
        penstock_buffer_free(part->in);
        return status;
    }
    piece->start += blocks * link->groups.step;
    link->part_count++;
    return PENSTOCK_OK;
}

static void drop_part(struct penstock__device_link *link)
{
    penstock_buffer_free(link->parts[link->first_part].in);
    link->first_part = (link->first_part + 1) % PENSTOCK__RING_USUAL;
    link->part_count--;
}

static void used(penstock_stream *stream, size_t results)
{
    struct penstock__device_link *link = before(stream);
    for (size_t groups = results / values_of(stream); groups;) {
        struct penstock__device_cut *part = &link->parts[link->first_part];
        const size_t some = groups < part->groups ? groups : part->groups;
        penstock__stream_took(stream, some, link->pieces.pieces[part->piece].since);
        penstock__stream_gave(stream, some, stream->given + 1, 1);
        stream->handed_over += some;
        penstock__device_link_used(link, some * link->groups.step);
        groups -= some;
        part->groups -= some;
        if (!part->groups)
            drop_part(link);
    }
}

static size_t take_back(penstock_stream *stream)
{
    struct penstock__device_link *link = before(stream);
    while (link->part_count)
        drop_part(link);
    if (link->active)
        penstock__device_link_leave(link);
    return 0;
}

const struct penstock__device_source penstock__device_through = {
    .shape = shape,
    .bytes = bytes,
    .share = share,
    .idle = idle,
    .full = full,
    .can_make = can_make,
    .room = room,
    .overdue = overdue,
    .blocks = blocks_of,
    .number = number,
    .make = make,
    .used = used,
    .take_back = take_back,
};
