/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A plan's work with its samples on the device, to be timed. */
#include "core/plan/bench.h"
#include "core/plan/plan.h"
#include "core/plan/problem.h"

int penstock_bench_new(penstock_bench **bench, penstock_plan *plan, const void *in, size_t in_bytes, size_t frames)
{
    struct penstock__bench_work work = {.in = in, .in_bytes = in_bytes, .batch.frames = frames};
    const struct penstock_problem *problem;
    int status;
    if (!bench || !plan)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_bench_new: bench or plan is NULL");
    *bench = NULL;
    problem = penstock__plan_problem(plan);
    if (penstock__problem_gathered(problem) || !frames || frames % penstock__problem_average(problem))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%zu frames of this plan cannot be timed on a device", frames);
    if ((status = penstock__problem_check_frames(problem, frames)))
        return status;
    work.batch.samples = penstock__problem_samples(problem, frames);
    if (!(status = penstock__bench_new(bench, penstock__plan_executor(plan), &work, false)))
        penstock__bench_use_plan(*bench, plan, penstock_plan_enqueue);
    return status;
}
