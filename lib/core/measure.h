/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How long a candidate takes for its usual batch. */
#ifndef PENSTOCK_CORE_MEASURE_H
#define PENSTOCK_CORE_MEASURE_H

#include "core/executor.h"

/* Seconds a frame, transfers included. Takes about 50 ms. `in_flight` batches are on their way at once; 1: each is
 * waited for. */
int penstock__measure(double *seconds, struct penstock__executor *executor, unsigned in_flight);

#endif
