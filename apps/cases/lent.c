/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Pushes and pulls through the memory that a stream lends. */
#include "lent.h"

#include <string.h>

static penstock_stream_info info_of(const penstock_stream *stream)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    penstock_stream_get_info(stream, &info);
    return info;
}

int lent_push(penstock_stream *stream, bool copies, const void *items, size_t count, size_t *taken)
{
    void *to;
    size_t room;
    int status = penstock_stream_acquire(stream, &to, &room);
    *taken = count < room ? count : room;
    if (status || !room)
        return status;
    if (copies)
        memcpy(to, items, *taken * info_of(stream).in_bytes);
    return penstock_stream_commit(stream, *taken);
}

int lent_pull(penstock_stream *stream, bool copies, void *items, size_t capacity, bool wait, size_t *count)
{
    const void *from;
    int status = penstock_stream_peek(stream, wait, &from, count);
    *count = *count < capacity ? *count : capacity;
    if (*count && copies)
        memcpy(items, from, *count * info_of(stream).out_bytes);
    return status ? status : penstock_stream_release(stream, *count);
}
