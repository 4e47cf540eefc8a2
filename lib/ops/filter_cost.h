/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a filter's block takes, measured once and remembered in the cache folder. */
#ifndef PENSTOCK_OPS_FILTER_COST_H
#define PENSTOCK_OPS_FILTER_COST_H

#include "ops/filter_time.h"

/* Of a shape that is set. `beside`: another one whose cost is known in this context, which it is to be compared with,
 * or NULL. */
int penstock__filter_cost(struct filter_cost *cost, const struct filter_shape *shape,
                          const struct filter_wanted *wanted, const struct filter_shape *beside);

#endif
