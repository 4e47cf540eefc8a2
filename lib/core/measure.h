/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How long a candidate takes for its usual batch. */
#ifndef PENSTOCK_CORE_MEASURE_H
#define PENSTOCK_CORE_MEASURE_H

#include "core/binding.h"

struct penstock__measured {
    double seconds;   /* of a round */
    double beside_hz; /* what the CPU did in these seconds in the place of what is made: penstock__arrival_serve() */
};

/* Of a processor that does two things alike at once: seconds of one item, if it did all for one. */
static inline double penstock__measured_alone(double item_s, double beside_hz)
{
    return 1 / (1 / item_s + beside_hz);
}

/* By the wall's clock, the median of those that follow each other for about 50 ms after two to warm
 * up. `round` sends a batch through each slot and waits for no more than it must. The only place that times
 * candidates. */
int penstock__measure_rounds(struct penstock__measured *measured, int (*round)(void *argument), void *argument);

/* Seconds a frame, transfers included, with all slots in use. Takes about 50 ms. */
int penstock__measure(double *seconds, struct penstock__binding *binding);

#endif
