/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What plans of GPU backends share besides their kernels: how they are made within limits, described and launched. */
#ifndef PENSTOCK_GPU_LAUNCH_H
#define PENSTOCK_GPU_LAUNCH_H

#include "gpu/table.h"

/* How a backend makes the device's part of a plan. */
struct gpu_maker {
    /* Compiles for `shape` and `table`; *group_limit: work-items that the compiled kernel can have in a group. */
    int (*make)(struct penstock_plan_state *plan, const struct gpu_shape *shape, const struct gpu_table *table,
                size_t *group_limit);
    void (*release)(struct penstock_plan_state *plan); /* after make, be it that it failed */
};

/* Makes variant `variant`; a kernel that allows fewer work-items than planned (it needs many registers) is planned
 * again within that limit. Fills in *shape, and what `plan` says of itself. */
int penstock__gpu_make(struct penstock_plan_state *plan, struct gpu_shape *shape, const struct gpu_maker *maker,
                       const struct gpu_limits *limits, unsigned variant);

/* A launch: rows of output, and work-groups for them. Rows may be 0. */
int penstock__gpu_grid(size_t *rows, size_t *groups, const struct penstock_plan_state *plan,
                       const struct gpu_shape *shape, const struct penstock_job *job);

#endif
