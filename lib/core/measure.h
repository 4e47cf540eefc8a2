/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How long a candidate takes for its usual batch. */
#ifndef PENSTOCK_CORE_MEASURE_H
#define PENSTOCK_CORE_MEASURE_H

#include "core/executor.h"

/* By the wall's clock, the median of those of some bursts, 50 ms in all after two to warm up; the CPU that serves
 * meanwhile has its turns between the bursts. `round` sends the batches that are in flight at once and waits for no
 * more than it must. The only place that times candidates. */
int penstock__measure_rounds(double *seconds, int (*round)(void *argument), void *argument);

/* Seconds a frame, transfers included. Takes about 50 ms. `in_flight` batches are on their way at once; 1: each is
 * waited for. */
int penstock__measure(double *seconds, struct penstock__executor *executor, unsigned in_flight);

#endif
