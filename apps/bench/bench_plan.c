/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "bench_plan.h"

static int enqueue(void *user, const penstock_buffer *in, penstock_buffer *out, penstock_queue *queue)
{
    const struct bench_plan *work = user;
    return penstock_plan_enqueue(work->plan, in, out, work->frames, queue);
}

int bench_plan_new(penstock_bench **on_device, penstock_context *context, struct bench_plan *work, const void *block,
                   size_t block_bytes)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status = penstock_plan_get_info(work->plan, &info);
    *on_device = NULL;
    if (status)
        return status;
    work->in_bytes = work->frames * info.in_bytes;
    work->out_bytes = work->frames / work->average * info.out_bytes;
    return penstock_bench_new(on_device, context,
                              &PENSTOCK_BENCH_DESC(.device = info.device, .work = enqueue, .user = work,
                                                   .in_bytes = work->in_bytes, .out_bytes = work->out_bytes,
                                                   .block = block, .block_bytes = block_bytes));
}
