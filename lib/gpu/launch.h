/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What plans of GPU backends share besides their kernels: how they are made within limits, described and launched. */
#ifndef PENSTOCK_GPU_LAUNCH_H
#define PENSTOCK_GPU_LAUNCH_H

#include "gpu/table.h"

/* Adds to what a plan says of itself. */
void penstock__gpu_describe(struct penstock_plan_state *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The decomposition's method, with the points of its convolution. */
void penstock__gpu_describe_method(struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition);

/* How a backend makes the device's part of a plan. */
struct gpu_maker {
    /* (optional) Compiles all passes, before any of them is made. */
    int (*compile)(struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition);
    /* Makes pass `index`, and compiles it where there is no `compile`; *group_limit: work-items that the compiled
     * kernel can have in a group. */
    int (*make)(struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition, unsigned index,
                const struct gpu_table *table, size_t *group_limit);
    void (*release)(struct penstock_plan_state *plan); /* all passes that there are, be it that a make failed */
};

/* Makes variant `variant`; a kernel that allows fewer work-items than planned (it needs many registers) is planned
 * again within that limit. Fills in *decomposition, and what `plan` says of itself. */
int penstock__gpu_make(struct penstock_plan_state *plan, struct gpu_decomposition *decomposition,
                       const struct gpu_maker *maker, const struct gpu_limits *limits, unsigned variant);

enum gpu_memory { GPU_SCRATCH_A, GPU_SCRATCH_B, GPU_IN, GPU_OUT };

/* One launch. */
struct gpu_step {
    unsigned pass;
    enum gpu_memory from, to;
    size_t rows; /* transforms or, where the last pass averages, means of them */
    size_t groups;
    size_t first; /* number of the first row in the caller's memory */
};

/* The launches of a batch in order, i = 0, 1, ...; false after the last one. */
bool penstock__gpu_step(struct gpu_step *step, const struct penstock_plan_state *plan,
                        const struct gpu_decomposition *decomposition, const struct penstock_job *job, size_t i);

/* The kernel's argument `plane`. */
static inline uint64_t penstock__gpu_plane_of(const struct penstock_plan_state *plan, const struct penstock_job *job)
{
    return plan->problem->fft.fold ? job->spacing : job->samples;
}

/* Scratch memories that a batch needs, and the bytes of each; PENSTOCK_ERR_ARGUMENT for a batch that is too large. */
int penstock__gpu_scratch(unsigned *count, size_t *bytes, const struct penstock_plan_state *plan,
                          const struct gpu_decomposition *decomposition, const struct penstock_job *job);

#endif
