/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Another plan for a batcher, another batcher for its samples, and what is held of these. */
#include "core/stream/batcher_state.h"

#include <string.h>

void penstock__batcher_set_plan(struct penstock__batcher *batcher, penstock_plan *plan)
{
    if (batcher->settle)
        batcher->settle(batcher->settle_owner);
    penstock__batcher_flush(batcher); /* a failure is kept, as is that of a wait */
    struct penstock__ring *ring = &batcher->ring;
    for (unsigned i = 0; i < ring->count; i++) {
        struct penstock__ring_batch *batch = &ring->batches[(ring->oldest + i) % ring->count];
        if (batch->state == PENSTOCK__RING_SENT)
            penstock__batcher_wait_for(batcher, batch);
    }
    batcher->plan = plan;
    batcher->last_ticket = 0;
    if (batcher->meter)
        penstock__plan_set_event_times(plan, &batcher->meter->event_times);
}

size_t penstock__batcher_held(const struct penstock__batcher *batcher)
{
    const struct penstock__ring *ring = &batcher->ring;
    const struct penstock__ring_batch *last = &ring->batches[ring->filling];
    const bool is_free = last->state == PENSTOCK__RING_FREE, fills = last->state == PENSTOCK__RING_FILLING;
    if (batcher->failure.status || ring->oldest != ring->filling || !(is_free || (fills && !last->items)))
        return SIZE_MAX;
    return is_free ? batcher->carried_samples : last->samples;
}

const void *penstock__batcher_rest(const struct penstock__batcher *batcher, size_t *samples)
{
    const struct penstock__ring_batch *last = &batcher->ring.batches[batcher->ring.filling];
    const bool fills = last->state == PENSTOCK__RING_FILLING;
    *samples = fills ? last->samples : batcher->carried_samples;
    return fills ? last->in : batcher->carried;
}

void penstock__batcher_go_on(struct penstock__batcher *batcher, const struct penstock__batcher *before)
{
    batcher->max_latency_s = before->max_latency_s;
    batcher->first_turn = before->first_turn;
    batcher->turn = before->turn;
    if (before->meter)
        penstock__batcher_set_meter(batcher, before->meter);
}

void penstock__batcher_drop_held(struct penstock__batcher *batcher, size_t samples)
{
    struct penstock__ring_batch *last = penstock__batcher_filling(batcher); /* what was carried is in it */
    if (!last) {
        batcher->carried += samples * batcher->groups.sample_bytes;
        batcher->carried_samples -= samples;
        return;
    }
    last->samples -= samples;
    memmove(last->in, last->in + samples * batcher->groups.sample_bytes, last->samples * batcher->groups.sample_bytes);
}
