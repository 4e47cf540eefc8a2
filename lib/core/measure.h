/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How long a binding takes for its usual batch. */
#ifndef PENSTOCK_CORE_MEASURE_H
#define PENSTOCK_CORE_MEASURE_H

#include "core/binding.h"

/* Seconds a frame, transfers included, with all slots in use. Takes about 50 ms. */
int penstock__measure(double *seconds, struct penstock__binding *binding);

#endif
