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
    uint64_t last_ticket;
    struct penstock__failure failure;
    struct penstock__meter *meter; /* or NULL */
    void (*settle)(void *owner);   /* or NULL: takes what is on its way on the device back, before a change of plan */
    void *settle_owner;
};

#endif
