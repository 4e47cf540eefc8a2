/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The calls that lend a stream's memory, and that memory where the kind has none. */
#include "core/lend.h"
#include "backends/backend.h"
#include "core/link.h"
#include "core/stream.h"

#include <string.h>

#define LENT_BYTES ((size_t)1 << 20)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, __VA_ARGS__)

static size_t room_of(size_t item_bytes)
{
    return item_bytes < LENT_BYTES ? LENT_BYTES / item_bytes : 1;
}

static int reserve(char **memory, size_t item_bytes)
{
    if (!*memory)
        *memory = penstock__alloc(room_of(item_bytes) * item_bytes);
    return *memory ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* ---------------------------------------------------------------- what waits ------------------ */

static int push_held(penstock_stream *stream)
{
    struct penstock__lent *lent = &stream->lent;
    size_t taken = 1;
    int status = PENSTOCK_OK;
    while (!status && taken && penstock__lent_waits(lent)) {
        const struct penstock__items items = {.whole = lent->in + lent->taken * stream->in_bytes};
        taken = 0;
        status = penstock__stream_take(stream, &items, lent->held - lent->taken, &taken);
        lent->taken += taken;
    }
    return status;
}

bool penstock__lent_drain(penstock_stream *stream)
{
    struct penstock__lent *lent = &stream->lent;
    const size_t before = lent->taken;
    const enum penstock__lent_end end = lent->end;
    push_held(stream); /* the kind keeps a failure, for the pulls that follow */
    if (!end || penstock__lent_waits(lent))
        return lent->taken > before;
    lent->end = PENSTOCK__LENT_OPEN;
    if (end == PENSTOCK__LENT_FINISH)
        stream->kind->finish(stream);
    else if (stream->kind->flush)
        stream->kind->flush(stream);
    return true;
}

int penstock__lent_end(penstock_stream *stream, enum penstock__lent_end end)
{
    struct penstock__lent *lent = &stream->lent;
    int status = push_held(stream);
    if (status)
        return status;
    if (penstock__lent_waits(lent))
        lent->end = end > lent->end ? end : lent->end;
    else if (end == PENSTOCK__LENT_FINISH)
        return stream->kind->finish(stream);
    return stream->kind->flush ? stream->kind->flush(stream) : PENSTOCK_OK;
}

/* ---------------------------------------------------------------- results --------------------- */

static size_t give_unread(penstock_stream *stream, const struct penstock__room *out, size_t capacity)
{
    struct penstock__lent *lent = &stream->lent;
    const size_t bytes = stream->out_bytes,
                 count = capacity < penstock__lent_unread(lent) ? capacity : penstock__lent_unread(lent);
    if (!count)
        return 0;
    const char *from = lent->out + lent->read * bytes;
    const size_t channels = stream->out_channels, value = channels ? bytes / channels : 0;
    if (out->whole)
        memcpy(out->whole, from, count * bytes);
    for (size_t c = 0; c < channels && out->channels; c++)
        for (size_t i = 0; i < count; i++)
            memcpy((char *)out->channels[c] + i * value, from + i * bytes + c * value, value);
    lent->read += count;
    return count;
}

int penstock__lent_pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait,
                        size_t *count)
{
    bool more;
    int status;
    if (capacity && (*count = give_unread(stream, out, capacity)))
        return PENSTOCK_OK;
    do {
        more = penstock__lent_drain(stream);
        status = stream->kind->pull(stream, out, capacity, wait, count);
    } while (!status && !*count && capacity && more);
    return status;
}

void penstock__lent_forget(penstock_stream *stream)
{
    stream->lent.acquired = stream->lent.peeked = 0;
}

void penstock__lent_reset(penstock_stream *stream)
{
    stream->lent = (struct penstock__lent){.in = stream->lent.in, .out = stream->lent.out};
}

void penstock__lent_free(penstock_stream *stream)
{
    penstock__free(stream->lent.in);
    penstock__free(stream->lent.out);
}

/* ---------------------------------------------------------------- the calls ------------------- */

int penstock_stream_acquire(penstock_stream *stream, void **to, size_t *room)
{
    int status;
    if (!stream || !to || !room)
        return bad("%s: stream, to or room is NULL", __func__);
    *to = NULL;
    *room = 0;
    penstock__lent_forget(stream);
    if ((status = penstock__stream_here(stream)) || (status = penstock__stream_goes_on(stream)) ||
        (status = penstock__link_free_in(__func__, stream)))
        return status;
    if ((status = push_held(stream)) || penstock__lent_waits(&stream->lent))
        return status;
    if (stream->lends_in) {
        status = stream->kind->acquire(stream, to, room);
    } else if (!(status = reserve(&stream->lent.in, stream->in_bytes))) {
        *to = stream->lent.in;
        *room = room_of(stream->in_bytes);
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
        lent->taken = 0;
        lent->held = count;
        status = push_held(stream);
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
        (status = penstock__link_feed(stream, wait)))
        return status;
    if (!stream->kind->pull)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "%s: results of the kind %s are frames, with a pull of their own", __func__,
                               stream->kind->name);
    if (stream->lends_out && !penstock__lent_unread(lent) && !penstock__lent_waits(lent)) {
        status = stream->kind->peek(stream, wait, from, count);
    } else {
        if (!penstock__lent_unread(lent) && !(status = reserve(&lent->out, stream->out_bytes))) {
            const size_t room = room_of(stream->out_bytes);
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
