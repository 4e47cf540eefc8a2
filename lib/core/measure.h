/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How long a candidate takes for its usual batch. */
#ifndef PENSTOCK_CORE_MEASURE_H
#define PENSTOCK_CORE_MEASURE_H

#include "core/binding.h"

/* Seconds of a round by the wall's clock, the median of those that follow each other for about 50 ms after two to warm
 * up. `round` sends a batch through each slot and waits for no more than it must. The only place that times
 * candidates. */
int penstock__measure_rounds(double *seconds, int (*round)(void *argument), void *argument);

/* Seconds a frame, transfers included, with all slots in use. Takes about 50 ms. */
int penstock__measure(double *seconds, struct penstock__binding *binding);

#endif
