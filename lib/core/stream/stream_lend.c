/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The calls that lend a stream's memory. */
#include "backends/backend.h"
#include "core/stream/lend.h"
#include "core/stream/link.h"
#include "core/stream/stream.h"
#include "core/stream/stream_device.h"

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, __VA_ARGS__)

int penstock_stream_acquire(penstock_stream *stream, void **to, size_t *room)
{
    int status;
    if (!stream || !to || !room)
        return bad("%s: stream, to or room is NULL", __func__);
    *to = NULL;
    *room = 0;
    penstock__lent_forget(stream);
    if ((status = penstock__stream_here(stream)) || (status = penstock__stream_goes_on(stream)) ||
        (status = penstock__link_free_in(__func__, stream)) || (status = penstock__enqueued_free(__func__, stream)))
        return status;
    if ((status = penstock__lent_push(stream)) || penstock__lent_waits(&stream->lent) || stream->lent.end_held)
        return status;
    if (stream->lends_in) {
        status = stream->kind->acquire(stream, to, room);
    } else if (!(status = penstock__lent_reserve(&stream->lent.in, stream->in_bytes))) {
        *to = stream->lent.in;
        *room = penstock__lent_room(stream->in_bytes);
    }
    stream->lent.acquired = *room;
    return status;
}

int penstock_stream_commit(penstock_stream *stream, size_t count)
{
    if (!stream)
        return bad("%s: stream is NULL", __func__);
    struct penstock__lent *lent = &stream->lent;
    if (count > lent->acquired)
        return bad("%s: %zu items, but room for %zu was acquired", __func__, count, lent->acquired);
    lent->acquired = 0;
    int status;
    if (!stream->lends_in) {
        if (count) { /* else some may wait that were committed before */
            lent->taken = 0;
            lent->held = count;
        }
        status = penstock__lent_push(stream);
    } else {
        const double now = penstock__now_s();
        status = count ? stream->kind->commit(stream, count) : PENSTOCK_OK;
        if (!stream->kind->takes_all) /* else it has counted them */
            penstock__stream_took(stream, count, now);
    }
    return status || !stream->links ? status : penstock__link_move(stream, false);
}

int penstock_stream_peek(penstock_stream *stream, bool wait, const void **from, size_t *count)
{
    int status = PENSTOCK_OK;
    if (!stream || !from || !count)
        return bad("%s: stream, from or count is NULL", __func__);
    struct penstock__lent *lent = &stream->lent;
    *from = NULL;
    *count = 0;
    penstock__lent_forget(stream);
    if ((status = penstock__stream_here(stream)) || (status = penstock__link_free_out(__func__, stream)) ||
        (status = penstock__enqueued_free(__func__, stream)) || (status = penstock__link_feed(stream, wait)))
        return status;
    if (!stream->kind->pull)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "%s: results of the kind %s are frames, with a pull of their own", __func__,
                               stream->kind->name);
    if (stream->lends_out && !penstock__lent_unread(lent) && !penstock__lent_waits(lent)) {
        status = stream->kind->peek(stream, wait, from, count);
    } else {
        if (!penstock__lent_unread(lent) && !(status = penstock__lent_reserve(&lent->out, stream->out_bytes))) {
            const size_t room = penstock__lent_room(stream->out_bytes);
            lent->read = lent->shown = 0;
            status = penstock__lent_pull(stream, &(struct penstock__room){.whole = lent->out}, room, wait, count);
            lent->shown = *count;
        }
        *count = penstock__lent_unread(lent);
        *from = *count ? lent->out + lent->read * stream->out_bytes : NULL;
    }
    lent->peeked = *count;
    return status;
}

int penstock_stream_release(penstock_stream *stream, size_t count)
{
    if (!stream)
        return bad("%s: stream is NULL", __func__);
    struct penstock__lent *lent = &stream->lent;
    if (count > lent->peeked)
        return bad("%s: %zu items, but %zu were peeked", __func__, count, lent->peeked);
    lent->peeked = 0;
    if (penstock__lent_unread(lent))
        lent->read += count;
    else if (count) /* of 0, a batch that is being filled would look as if it had been read */
        stream->kind->release(stream, count);
    return PENSTOCK_OK;
}
