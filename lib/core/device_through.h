/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A stream in the middle of a chain on one device: of what the link before it has there it makes, group by group, the
 * values of the link behind. Whatever was not used up at the chain's end is made again by the stream at its beginning,
 * which has kept the samples.
 */
#ifndef PENSTOCK_CORE_DEVICE_THROUGH_H
#define PENSTOCK_CORE_DEVICE_THROUGH_H

#include "core/device_ends.h"

/* Of kinds with a batcher whose results are items, and these complex floats. */
extern const struct penstock__device_source penstock__device_through;

#endif
