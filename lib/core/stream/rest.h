/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What a stream had no room for of a planar push. The I parts and the Q parts of a push lie apart, so that its rest is
 * no planar push by itself: the stream keeps it, as penstock_cf32, and takes from it before anything that comes later.
 * And a check of counts.
 */
#ifndef PENSTOCK_CORE_REST_H
#define PENSTOCK_CORE_REST_H

#include "backends/backend.h"

struct penstock__rest {
    penstock_cf32 *samples;
    size_t first, end, room; /* samples `first` .. `end` - 1 are left, of `room` */
};

static inline size_t penstock__rest_count(const struct penstock__rest *rest)
{
    return rest->end - rest->first;
}

/* Room for `count` samples where nothing is left; PENSTOCK_ERR_MEMORY, and nothing has changed. */
int penstock__rest_reserve(struct penstock__rest *rest, size_t count);

/* Samples `taken` .. `count` - 1 of a planar push of `count`, for which room was reserved; afterwards all are taken. */
void penstock__rest_keep(struct penstock__rest *rest, const void *samples, size_t count, size_t *taken);

void penstock__rest_free(struct penstock__rest *rest);

/* PENSTOCK_ERR_ARGUMENT with text where no array can have `count` items of `item_bytes` bytes. `call` is the function's
 * name. */
int penstock__check_count(const char *call, size_t count, size_t item_bytes);

#endif
