/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A plan fed from a stream: samples go in as they come, frames are gathered into batches, several batches are on their
 * way at once, results come out in order. Memory is constant, and how the samples were cut makes no difference.
 *
 *     while (!(status = penstock__batcher_room(batcher, &to, &room)) && room && more)
 *         write up to `room` samples at `to`, then penstock__batcher_commit()
 *     while (!(status = penstock__batcher_ready(batcher, wait, &from, &groups)) && groups)
 *         read up to `groups` results at `from`, then penstock__batcher_release()
 *
 * A group is the frames that make one result: the plan's `average`. After a failure the results of earlier batches can
 * still be read; then, and on the way in at once, every call returns the failure until a reset.
 */
#ifndef PENSTOCK_CORE_BATCHER_H
#define PENSTOCK_CORE_BATCHER_H

#include "core/plan/plan.h"
#include "core/stream/meter.h"

struct penstock__batcher;

/*
 * The plan (not gathered, no skip, frames that touch or overlap) must outlive the batcher, and be used by nobody else
 * meanwhile. A batch holds as many frames as the plan likes as far as `max_bytes` of memory for a batch allow, one
 * group at the least. `max_latency_s`: a group that has been complete for so long is sent by the next call that
 * commits or asks for results, and waited for by the latter; 0: never.
 */
int penstock__batcher_new(struct penstock__batcher **batcher, penstock_plan *plan, size_t max_bytes,
                          double max_latency_s);

/* Tells `meter`, which lives as long, of every batch from now on. What copies and kernels cost on a device of its own
 * is found out here, with a full batch of zeros, before anything else goes in. */
void penstock__batcher_set_meter(struct penstock__batcher *batcher, struct penstock__meter *meter);

/* Turn of the first frame, where frames have turns: of a folded plan, or an overlapped one. From a reset on. */
void penstock__batcher_set_turn(struct penstock__batcher *batcher, size_t turn);

/* Another plan, alike but for its factors, from the next group on: those that are complete go through the plan before
 * and are waited for, so that nobody uses that one any more. */
void penstock__batcher_set_plan(struct penstock__batcher *batcher, penstock_plan *plan);

/* Samples that make no complete group yet, where nothing else is held; SIZE_MAX where more is. */
size_t penstock__batcher_held(const struct penstock__batcher *batcher);

/* Where they lie, after a flush. */
const void *penstock__batcher_rest(const struct penstock__batcher *batcher, size_t *samples);

/* This one, which has the rest of another one, goes on where that ends: with its turn, latency and meter. */
void penstock__batcher_go_on(struct penstock__batcher *batcher, const struct penstock__batcher *before);

/* Forgets the first `samples` of these. */
void penstock__batcher_drop_held(struct penstock__batcher *batcher, size_t samples);

/* Another max_latency_s, for what waits too. */
void penstock__batcher_set_latency(struct penstock__batcher *batcher, double max_latency_s);

/* Where the next samples go, and how many there is room for: 0 while results must be taken first. */
int penstock__batcher_room(struct penstock__batcher *batcher, void **to, size_t *samples);

/* `samples` were written there. A full batch is sent. */
int penstock__batcher_commit(struct penstock__batcher *batcher, size_t samples);

/* Samples of a push: in the plan's format at `samples`; or, where that is NULL, written by `fill`, those from number
 * `first` on. */
struct penstock__feed {
    const void *samples;
    void (*fill)(const void *owner, void *to, size_t first, size_t count);
    const void *owner;
};

/*
 * Takes `count` of them, from number `*taken` on, as far as there is room. Copies are shared among the context's
 * threads. Where the plan's device works in the host's memory and there are enough to occupy its threads, they are not
 * copied: groups are made straight of the caller's samples, and only those that make none are kept.
 */
int penstock__batcher_push(struct penstock__batcher *batcher, const struct penstock__feed *feed, size_t count,
                           size_t *taken);

/* Sends all complete groups. Afterwards only samples that make no group are held. */
int penstock__batcher_flush(struct penstock__batcher *batcher);

/* Results in order: `*groups` of them at `*from`. Waits for the oldest batch if `wait` is set or there is no room
 * otherwise; else gives what is known to be done. */
int penstock__batcher_ready(struct penstock__batcher *batcher, bool wait, const void **from, size_t *groups);

/* `groups` of them were read. */
void penstock__batcher_release(struct penstock__batcher *batcher, size_t groups);

/* Seconds until max_latency_s has passed for the oldest result that waits; 0 where one can be read at once; INFINITY
 * where none waits or there is no limit. */
double penstock__batcher_due_s(const struct penstock__batcher *batcher);

/* Groups of a full batch. */
size_t penstock__batcher_capacity(const struct penstock__batcher *batcher);

/* Forgets all samples and results, and failures. */
void penstock__batcher_reset(struct penstock__batcher *batcher);
void penstock__batcher_free(struct penstock__batcher *batcher);

#endif
