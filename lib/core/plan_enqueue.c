/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans that are enqueued with the samples in the device's memory. */
#include "core/buffer.h"
#include "core/plan.h"
#include "core/problem.h"

static int check_frames(const struct penstock_problem *problem, size_t frames)
{
    unsigned average = penstock__problem_average(problem);
    if (penstock__problem_gathered(problem))
        return penstock__error(PENSTOCK_ERR_STATE, "a plan with gathered frames needs their list");
    if (frames % average)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "%zu frames given to a plan that averages over %u; give a multiple", frames, average);
    return penstock__problem_check_frames(problem, frames);
}

int penstock__plan_enqueue_turned(penstock_plan *plan, const penstock_buffer *in, size_t turn, penstock_buffer *out,
                                  size_t frames, penstock_queue *queue)
{
    int status;
    const struct penstock_problem *problem = penstock__plan_problem(plan);
    struct penstock__executor *executor = penstock__plan_executor_now(plan);
    if (!frames)
        return penstock__queue_check(queue);
    if ((status = check_frames(problem, frames)))
        return status;
    struct penstock_job job = {
        .frames = frames, .samples = penstock__problem_samples(problem, frames), .spacing = (uint32_t)turn};
    if ((status = penstock__job_place(&job, executor, in, out, queue)))
        return status;
    return penstock__enqueue(penstock__executor_on(executor, queue->slot.device), &job, queue);
}

int penstock_plan_enqueue(penstock_plan *plan, const penstock_buffer *in, penstock_buffer *out, size_t frames,
                          penstock_queue *queue)
{
    return plan ? penstock__plan_enqueue_turned(plan, in, 0, out, frames, queue)
                : penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_plan_enqueue: the plan is NULL");
}
