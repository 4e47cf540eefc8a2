/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which kernels a GPU's plan is made of, by its problem. */
#include "gpu/route.h"
#include "gpu/fused_kernel.h"

int penstock__gpu_route_check(const struct penstock_problem *problem, const struct penstock_device *device,
                              const struct gpu_limits *limits)
{
    if (problem->kind == PENSTOCK_PROBLEM_VITERBI)
        return PENSTOCK_OK;
    return problem->kind != PENSTOCK_PROBLEM_FFT ? penstock__fused_check(problem, device->name)
                                                 : penstock__gpu_supports(&problem->fft, limits);
}

static int plane_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant)
{
    return penstock__gpu_plane_init(&((struct gpu_plan *)plan->priv)->plane, plan, limits, variant);
}

static void plane_free(struct penstock_plan_state *plan)
{
    penstock__gpu_plane_free(&((struct gpu_plan *)plan->priv)->plane);
}

static int plane_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    return penstock__gpu_plane_enqueue(slot, &((struct gpu_plan *)plan->priv)->plane, slot->priv, job);
}

static const struct gpu_route *route_of(const struct gpu_routes *routes, const struct penstock_problem *problem,
                                        const struct gpu_limits *limits)
{
    static const struct gpu_route plane = {plane_init, plane_free, plane_enqueue};
    if (problem->kind == PENSTOCK_PROBLEM_VITERBI)
        return &routes->viterbi;
    if (problem->kind != PENSTOCK_PROBLEM_FFT || problem->fft.summed)
        return &routes->fused;
    return penstock__gpu_is_plane(&problem->fft, limits) ? &plane : &routes->passes;
}

int penstock__gpu_plan_init(struct penstock_plan_state *plan, const struct gpu_routes *routes,
                            const struct gpu_limits *limits, unsigned variant)
{
    const struct gpu_route **route = &((struct gpu_plan *)plan->priv)->route;
    struct gpu_limits wanted = *limits;
    wanted.config = plan->launch_config;
    *route = route_of(routes, plan->problem, &wanted);
    /* Where one kernel is faster it is variant 0, and the transform's own kernels are those after it. */
    if (*route == &routes->passes && penstock__fused_first(plan->problem, &wanted)) {
        int first = variant ? PENSTOCK_ERR_UNSUPPORTED : routes->fused.init(plan, &wanted, 0);
        if (!first)
            *route = &routes->fused;
        if (first != PENSTOCK_ERR_UNSUPPORTED)
            return first;
        variant -= variant > 0;
    }
    return (*route)->init(plan, &wanted, variant);
}

void penstock__gpu_plan_free(struct penstock_plan_state *plan)
{
    ((const struct gpu_plan *)plan->priv)->route->free(plan);
}

int penstock__gpu_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    return ((const struct gpu_plan *)plan->priv)->route->enqueue(slot, plan, job);
}
