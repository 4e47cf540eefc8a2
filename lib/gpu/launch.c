/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Making, describing and launching plans, as far as it is the same for all GPU backends. */
#include "gpu/launch.h"

#include <stdio.h>

/* Samples of a batch from which on the cost of a launch does not count. */
#define GPU_SAMPLES ((size_t)1 << 20)
#define CPU_SAMPLES ((size_t)1 << 17)

static int make_once(struct penstock_plan_state *plan, struct gpu_shape *shape, const struct gpu_maker *maker,
                     const struct gpu_limits *limits, unsigned variant, size_t *group_limit)
{
    struct gpu_table table;
    int status = penstock__gpu_shape(shape, &plan->problem->fft, limits, variant);
    if (status || (status = penstock__gpu_table(&table, shape, &plan->problem->fft)))
        return status;
    status = maker->make(plan, shape, &table, group_limit);
    penstock__gpu_table_free(&table);
    if (status)
        maker->release(plan);
    return status;
}

static void describe(struct penstock_plan_state *plan, const struct gpu_shape *shape)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    size_t samples = shape->cpu ? CPU_SAMPLES : GPU_SAMPLES, frames = samples / fft->n;
    int used = snprintf(plan->variant, sizeof plan->variant, "radix");
    for (unsigned s = 0; s < shape->stages && used < (int)sizeof plan->variant; s++)
        used +=
            snprintf(plan->variant + used, sizeof plan->variant - (size_t)used, "%s%u", s ? "x" : " ", shape->radix[s]);
    if (used < (int)sizeof plan->variant)
        snprintf(plan->variant + used, sizeof plan->variant - (size_t)used, ", %u a group", shape->per_group);
    plan->kernels = plan->passes = 1;
    plan->best_batch = frames < fft->average ? fft->average : frames / fft->average * fft->average;
}

int penstock__gpu_make(struct penstock_plan_state *plan, struct gpu_shape *shape, const struct gpu_maker *maker,
                       const struct gpu_limits *limits, unsigned variant)
{
    struct gpu_limits within = *limits;
    size_t group_limit = 0;
    int status = make_once(plan, shape, maker, &within, variant, &group_limit);
    if (!status && group_limit < penstock__gpu_group_size(shape)) {
        maker->release(plan);
        within.max_group = (unsigned)group_limit;
        status = make_once(plan, shape, maker, &within, variant, &group_limit);
        if (!status && group_limit < penstock__gpu_group_size(shape)) {
            maker->release(plan);
            status = penstock__error(PENSTOCK_ERR_DEVICE, "%s: the kernel runs with %zu work-items, it needs %u",
                                     plan->device->name, group_limit, penstock__gpu_group_size(shape));
        }
    }
    if (!status)
        describe(plan, shape);
    return status;
}

int penstock__gpu_grid(size_t *rows, size_t *groups, const struct penstock_plan_state *plan,
                       const struct gpu_shape *shape, const struct penstock_job *job)
{
    *rows = job->frames / plan->problem->fft.average;
    *groups = (*rows + shape->per_group - 1) / shape->per_group;
    if (*rows > (size_t)INT32_MAX / shape->lanes - shape->per_group)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: %zu frames are too many for one batch", plan->device->name,
                               job->frames);
    return PENSTOCK_OK;
}
