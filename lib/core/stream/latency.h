/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How long what waits in a stream may: max_latency_s from `since_s` on, of penstock__now_s(). 0 of either: without end.
 */
#ifndef PENSTOCK_CORE_LATENCY_H
#define PENSTOCK_CORE_LATENCY_H

#include "backends/backend.h"

#include <math.h>

/* Seconds that are left, 0 once none are; INFINITY. */
static inline double penstock__latency_left_s(double since_s, double max_latency_s)
{
    if (since_s == 0 || max_latency_s <= 0)
        return (double)INFINITY;
    return fmax(since_s + max_latency_s - penstock__now_s(), 0);
}

static inline bool penstock__latency_is_over(double since_s, double max_latency_s)
{
    return max_latency_s > 0 && since_s > 0 && penstock__now_s() - since_s >= max_latency_s;
}

#endif
