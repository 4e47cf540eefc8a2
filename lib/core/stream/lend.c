/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory that a stream lends where its kind has none. */
#include "core/stream/lend.h"
#include "backends/backend.h"
#include "core/stream/stream.h"

#include <string.h>

#define LENT_BYTES ((size_t)1 << 20)

size_t penstock__lent_room(size_t item_bytes)
{
    return item_bytes < LENT_BYTES ? LENT_BYTES / item_bytes : 1;
}

int penstock__lent_reserve(char **memory, size_t item_bytes)
{
    if (!*memory)
        *memory = penstock__alloc(penstock__lent_room(item_bytes) * item_bytes);
    return *memory ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* ---------------------------------------------------------------- what waits ------------------ */

int penstock__lent_push(penstock_stream *stream)
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

static int end_here(penstock_stream *stream, enum penstock__lent_end end)
{
    if (end == PENSTOCK__LENT_FINISH)
        return stream->kind->finish(stream);
    return stream->kind->flush ? stream->kind->flush(stream) : PENSTOCK_OK;
}

int penstock__lent_drain(penstock_stream *stream)
{
    struct penstock__lent *lent = &stream->lent;
    const enum penstock__lent_end end = lent->end;
    int status = penstock__lent_push(stream);
    if (status || !end || penstock__lent_waits(lent) || lent->end_held)
        return status;
    lent->end = PENSTOCK__LENT_OPEN;
    if ((status = end_here(stream, end)))
        lent->end = end; /* to be tried again */
    return status;
}

int penstock__lent_end(penstock_stream *stream, enum penstock__lent_end end)
{
    struct penstock__lent *lent = &stream->lent;
    int status = penstock__lent_push(stream);
    if (status)
        return status;
    if (!penstock__lent_waits(lent))
        return end_here(stream, end);
    lent->end = end > lent->end ? end : lent->end; /* it comes behind these: penstock__lent_drain() */
    return PENSTOCK_OK;
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
    struct penstock__lent *lent = &stream->lent;
    bool moved;
    int drained, status;
    if (capacity && (*count = give_unread(stream, out, capacity)))
        return PENSTOCK_OK;
    do {
        const size_t taken = lent->taken;
        const enum penstock__lent_end end = lent->end;
        drained = penstock__lent_drain(stream);
        moved = lent->taken > taken || lent->end != end;
        status = stream->kind->pull(stream, out, capacity, wait, count);
    } while (!status && !*count && capacity && moved);
    return status || *count ? status : drained;
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
