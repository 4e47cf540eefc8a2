/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A batcher whose samples lie in the device's memory already. */
#include "core/stream/batcher_device.h"
#include "core/stream/batcher_state.h"
#include "core/stream/latency.h"

#include <string.h>

bool penstock__batcher_device_is(const struct penstock__batcher *batcher, const struct penstock_device *device)
{
    return !batcher->failure.status && penstock__plan_executor_now(batcher->plan)->state.device == device;
}

struct penstock__groups penstock__batcher_device_groups(const struct penstock__batcher *batcher)
{
    struct penstock__groups groups = batcher->groups;
    if (penstock__groups_are_blocks(penstock__plan_problem(batcher->plan))) { /* which begin in the midst of results */
        groups.step = groups.span = groups.frame = groups.sample_bytes;
        groups.sample_bytes = 1;
    }
    return groups;
}

void penstock__batcher_device_owner(struct penstock__batcher *batcher, void (*settle)(void *owner), void *owner)
{
    batcher->settle = settle;
    batcher->settle_owner = owner;
}

/* ---------------------------------------------------------------- before ---------------------- */

bool penstock__batcher_device_begin(struct penstock__batcher *batcher)
{
    struct penstock__ring_batch *last = penstock__ring_last(&batcher->ring);
    if (last->state == PENSTOCK__RING_FILLING && last->items && penstock__batcher_flush(batcher))
        return false;
    last = penstock__ring_last(&batcher->ring);
    if (last->state == PENSTOCK__RING_FILLING) {
        batcher->carried = last->in;
        batcher->carried_samples = last->samples;
        last->samples = 0;
        last->state = PENSTOCK__RING_FREE;
    }
    return last->state == PENSTOCK__RING_FREE;
}

const void *penstock__batcher_device_held(const struct penstock__batcher *batcher, size_t *samples)
{
    *samples = batcher->carried_samples;
    return batcher->carried;
}

bool penstock__batcher_device_is_full(const struct penstock__batcher *batcher)
{
    const enum penstock__ring_state state = batcher->ring.batches[batcher->ring.filling].state;
    return !batcher->failure.status && state != PENSTOCK__RING_FREE && state != PENSTOCK__RING_FILLING;
}

/* ---------------------------------------------------------------- on the way ------------------ */

bool penstock__batcher_device_room(const struct penstock__batcher *batcher)
{
    return batcher->ring.batches[batcher->ring.filling].state == PENSTOCK__RING_FREE;
}

bool penstock__batcher_device_idle(const struct penstock__batcher *batcher)
{
    for (unsigned i = 0; i < batcher->ring.count; i++)
        if (batcher->ring.batches[i].state != PENSTOCK__RING_FREE)
            return false;
    return !batcher->carried_samples;
}

int penstock__batcher_device_make(struct penstock__batcher *batcher, const penstock_buffer *in, penstock_buffer *out,
                                  size_t groups, penstock_queue *queue)
{
    return penstock_plan_enqueue(batcher->plan, in, out, groups * batcher->groups.frames, queue);
}

int penstock__batcher_device_put(struct penstock__batcher *batcher, const penstock_buffer *in, penstock_buffer *out,
                                 size_t groups, penstock_queue *queue)
{
    struct penstock__ring_batch *batch = penstock__ring_last(&batcher->ring);
    int status = penstock__batcher_device_make(batcher, in, out, groups, queue);
    if (status || (status = penstock__buffer_fetch(out, batch->out, groups * batcher->groups.result_bytes, queue)))
        return status;
    batch->items = groups;
    batch->read = 0;
    batch->since = penstock__now_s();
    penstock__ring_sent(&batcher->ring);
    batch->state = PENSTOCK__RING_HANDED;
    return PENSTOCK_OK;
}

bool penstock__batcher_device_done(const struct penstock__batcher *batcher)
{
    return batcher->ring.batches[batcher->ring.oldest].state == PENSTOCK__RING_DONE;
}

bool penstock__batcher_device_overdue(const struct penstock__batcher *batcher)
{
    const struct penstock__ring_batch *oldest = &batcher->ring.batches[batcher->ring.oldest];
    return penstock__ring_is_away(oldest) && penstock__ring_overdue(oldest, batcher->max_latency_s);
}

bool penstock__batcher_device_is_late(const struct penstock__batcher *batcher, double since)
{
    return penstock__latency_is_over(since, batcher->max_latency_s);
}

/* The oldest one; they are the last ones of the ring. */
static struct penstock__ring_batch *oldest_handed(struct penstock__ring *ring)
{
    for (unsigned i = 0; i < ring->count; i++) {
        struct penstock__ring_batch *batch = &ring->batches[(ring->oldest + i) % ring->count];
        if (batch->state == PENSTOCK__RING_HANDED)
            return batch;
    }
    return NULL;
}

size_t penstock__batcher_device_landed(struct penstock__batcher *batcher)
{
    struct penstock__ring_batch *batch = oldest_handed(&batcher->ring);
    const size_t used = batch->items * batcher->groups.step;
    const size_t held = used < batcher->carried_samples ? used : batcher->carried_samples;
    batch->state = PENSTOCK__RING_DONE;
    batcher->carried += held * batcher->groups.sample_bytes;
    batcher->carried_samples -= held;
    return held;
}

void penstock__batcher_device_end(struct penstock__batcher *batcher)
{
    struct penstock__ring *ring = &batcher->ring;
    struct penstock__ring_batch *first = oldest_handed(ring), *batch;
    if (first)
        ring->filling = (unsigned)(first - ring->batches);
    while ((batch = oldest_handed(ring))) {
        batch->state = PENSTOCK__RING_FREE;
        batch->items = batch->read = 0;
    }
}
