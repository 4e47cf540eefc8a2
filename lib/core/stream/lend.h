/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Memory that a stream lends where its kind has none to lend: what is written there is pushed by the commit, and what
 * is read there was pulled by the peek. Items that were committed and not taken yet come before all that is pushed
 * later, results that were not released before all that are pulled later.
 */
#ifndef PENSTOCK_CORE_LEND_H
#define PENSTOCK_CORE_LEND_H

#include <penstock/stream.h>

enum penstock__lent_end { PENSTOCK__LENT_OPEN, PENSTOCK__LENT_FLUSH, PENSTOCK__LENT_FINISH };

struct penstock__lent {
    char *in, *out;              /* or NULL: not used yet */
    size_t acquired, peeked;     /* items that a commit or release may be of */
    size_t taken, held;          /* items of `in`: taken, and committed */
    size_t read, shown;          /* items of `out`: released, and pulled */
    enum penstock__lent_end end; /* what is to be done once all that was committed is taken */
    bool end_held;               /* until results of streams that are linked to this one were read; nothing is taken */
};

struct penstock__room;

static inline size_t penstock__lent_unread(const struct penstock__lent *lent)
{
    return lent->shown - lent->read;
}

/* Items of that size that such memory has; and it is made, where it is not yet. */
size_t penstock__lent_room(size_t item_bytes);
int penstock__lent_reserve(char **memory, size_t item_bytes);

/* Pushes what was committed, as far as there is room. */
int penstock__lent_push(penstock_stream *stream);

/* The same, and what is to be done after it, which after an error the next call tries again. */
int penstock__lent_drain(penstock_stream *stream);

/* Whether items were committed that the kind has not taken. */
static inline bool penstock__lent_waits(const struct penstock__lent *lent)
{
    return lent->taken < lent->held;
}

/* A flush, or the end of the items, once those are taken. */
int penstock__lent_end(penstock_stream *stream, enum penstock__lent_end end);

/* What was pulled and not released, then what the kind gives, with what was committed pushed between. */
int penstock__lent_pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait,
                        size_t *count);

/* What was acquired or peeked is not any more: another call uses that memory. */
void penstock__lent_forget(penstock_stream *stream);

/* Back to the beginning; the memory stays. */
void penstock__lent_reset(penstock_stream *stream);
void penstock__lent_free(penstock_stream *stream);

#endif
