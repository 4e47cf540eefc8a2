/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A batcher whose samples lie in the device's memory already: its plan is enqueued there, by batches of the ring. */
#ifndef PENSTOCK_CORE_BATCHER_DEVICE_H
#define PENSTOCK_CORE_BATCHER_DEVICE_H

#include "core/device/buffer.h"
#include "core/stream/batcher.h"
#include "core/stream/groups.h"

/* Whether its plan computes on the device now, and nothing has failed. */
bool penstock__batcher_device_is(const struct penstock__batcher *batcher, const struct penstock_device *device);

/* Of blocks to be decoded a byte is a sample, not a block: they may begin in the midst of another stream's result. */
struct penstock__groups penstock__batcher_device_groups(const struct penstock__batcher *batcher);

/* Called before its plan changes, to take back what is on its way; NULL: nobody. */
void penstock__batcher_device_owner(struct penstock__batcher *batcher, void (*settle)(void *owner), void *owner);

/* Samples that came by the host and make no group yet, which the first ones on the device follow: they stay where they
 * are. False: there are results that must be read first. */
bool penstock__batcher_device_begin(struct penstock__batcher *batcher);

/* Whether all batches are on their way or wait to be read, so that a pull gives some. */
bool penstock__batcher_device_is_full(const struct penstock__batcher *batcher);
const void *penstock__batcher_device_held(const struct penstock__batcher *batcher, size_t *samples);

/* Whether nothing is on its way or waits to be read, and no sample is held. */
bool penstock__batcher_device_idle(const struct penstock__batcher *batcher);

/* Enqueues its plan for `groups` of samples at `in`; results stay at `out`. */
int penstock__batcher_device_make(struct penstock__batcher *batcher, const penstock_buffer *in, penstock_buffer *out,
                                  size_t groups, penstock_queue *queue);

/* Whether a batch is free; else the oldest must be read first. */
bool penstock__batcher_device_room(const struct penstock__batcher *batcher);

/* Enqueues `groups`, at most as many as a full batch has, of samples at `in`; results come by way of `out`. */
int penstock__batcher_device_put(struct penstock__batcher *batcher, const penstock_buffer *in, penstock_buffer *out,
                                 size_t groups, penstock_queue *queue);

/* Whether results are there to be read, and whether the oldest that are not have been due for too long. */
bool penstock__batcher_device_done(const struct penstock__batcher *batcher);
bool penstock__batcher_device_overdue(const struct penstock__batcher *batcher);

/* Whether what has been complete since then is due. */
bool penstock__batcher_device_is_late(const struct penstock__batcher *batcher, double since);

/* The oldest batch on its way is done. How many of its samples came by the host before, and are used up. */
size_t penstock__batcher_device_landed(struct penstock__batcher *batcher);

/* Those that are on their way never were; what came by the host and was not used up makes groups with what comes so. */
void penstock__batcher_device_end(struct penstock__batcher *batcher);

#endif
