/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Batches of a stream in memory that a device reaches by itself, in a ring: one is being filled, those before it are on
 * their way, those before them wait to be read. First in, first out. What a batch holds beyond what is sent of it (the
 * overlap with the next one) its owner carries to the next one.
 */
#ifndef PENSTOCK_CORE_RING_H
#define PENSTOCK_CORE_RING_H

#include "backends/backend.h"

#define PENSTOCK__RING_USUAL 4  /* one that is filled, and three on their way to a device */
#define PENSTOCK__RING_MOST  49 /* one, and three on their way to each of several devices */

enum penstock__ring_state {
    PENSTOCK__RING_FREE,
    PENSTOCK__RING_FILLING,
    PENSTOCK__RING_SENT,
    PENSTOCK__RING_HANDED, /* on its way within the device, from one stream to another: core/stream/device_link.h */
    PENSTOCK__RING_DONE,   /* its results can be read */
    PENSTOCK__RING_LOST    /* sent, and failed */
};

struct penstock__ring_batch {
    enum penstock__ring_state state;
    char *in, *out;
    size_t samples;  /* written */
    size_t items;    /* results: of what was sent, or of what is complete while it is filled */
    size_t read;     /* of these were released */
    uint64_t ticket; /* what its owner knows it by */
    double since;    /* when the first item was complete, in seconds */
};

struct penstock__ring {
    penstock_context *context;
    struct penstock__ring_batch batches[PENSTOCK__RING_MOST];
    unsigned count, filling, oldest;
};

/* `ring` is zeroed, and may be freed after a failure too. `device` NULL: ordinary memory. `in_bytes`, `out_bytes` 0:
 * none. */
int penstock__ring_init(struct penstock__ring *ring, penstock_context *context, struct penstock_device *device,
                        unsigned count, size_t in_bytes, size_t out_bytes);
void penstock__ring_free(struct penstock__ring *ring);

/* Batches of a ring for a device, or for several: of `each` all but one are for that many on their way. */
unsigned penstock__ring_count(const struct penstock_device *device, unsigned each);

/* Of `bytes` that a batch may have, in and out, what it may for that device: of several half. Their buses together
 * carry more than the host's memory does, and as much as its caches, in which what is on its way then stays. */
size_t penstock__ring_batch_bytes(const struct penstock_device *device, size_t bytes);

/* All batches are free but the first, which is being filled. */
void penstock__ring_reset(struct penstock__ring *ring);

static inline struct penstock__ring_batch *penstock__ring_last(struct penstock__ring *ring)
{
    return &ring->batches[ring->filling];
}

static inline struct penstock__ring_batch *penstock__ring_oldest(struct penstock__ring *ring)
{
    return &ring->batches[ring->oldest];
}

/* Whether its results are still to come. */
static inline bool penstock__ring_is_away(const struct penstock__ring_batch *batch)
{
    return batch->state == PENSTOCK__RING_SENT || batch->state == PENSTOCK__RING_HANDED;
}

/* The last one is on its way: the next one's turn, once it is free. */
void penstock__ring_sent(struct penstock__ring *ring);

/* `items` of the oldest one were read; whether these were its last. */
bool penstock__ring_release(struct penstock__ring *ring, size_t items);

/* Items of the oldest one that were not read, `most` at most. */
static inline size_t penstock__ring_unread(const struct penstock__ring *ring, size_t most)
{
    const struct penstock__ring_batch *oldest = &ring->batches[ring->oldest];
    return oldest->items - oldest->read < most ? oldest->items - oldest->read : most;
}

/* Of those that are on their way within the device, `items` of the oldest ones were used up; and all that are left are
 * lost. */
void penstock__ring_used(struct penstock__ring *ring, size_t items);
void penstock__ring_take_back(struct penstock__ring *ring);

/* Whether a batch has something complete since `max_latency_s` or longer; 0: never. */
bool penstock__ring_overdue(const struct penstock__ring_batch *batch, double max_latency_s);

/* Seconds until that holds for the oldest one; 0 where it can be read at once; INFINITY where it has nothing complete,
 * or without a limit. */
double penstock__ring_due_s(const struct penstock__ring *ring, double max_latency_s);

#endif
