/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The inside of a batcher, for those files that are it. */
#ifndef PENSTOCK_CORE_BATCHER_STATE_H
#define PENSTOCK_CORE_BATCHER_STATE_H

#include "core/stream/batcher.h"
#include "core/stream/groups.h"
#include "core/stream/ring.h"

struct penstock__batcher {
    penstock_plan *plan;
    struct penstock__groups groups;
    size_t capacity; /* groups of a batch */
    size_t max_bytes;
    unsigned threads;
    double max_latency_s;
    struct penstock__ring ring;           /* items are groups, tickets the plan's */
    const struct penstock_device *device; /* that its memory suits */
    const char *carried;                  /* samples for the batch that is filled next, within one that was sent */
    size_t carried_samples;
    size_t first_turn, turn; /* of the first batch's first frame and of the next one's, where they have turns */
    uint64_t last_ticket;
    struct penstock__failure failure;
    struct penstock__meter *meter; /* or NULL */
    void (*settle)(void *owner);   /* or NULL: takes what is on its way on the device back, before a change of plan */
    void *settle_owner;
};

/* The batch to fill, with what is carried into it; NULL while there is none. */
struct penstock__ring_batch *penstock__batcher_filling(struct penstock__batcher *batcher);

/* Once it was sent. A failure is kept. */
int penstock__batcher_wait_for(struct penstock__batcher *batcher, struct penstock__ring_batch *batch);

#endif
