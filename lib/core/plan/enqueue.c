/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Jobs whose samples are in a device's memory, put into a queue of it. */
#include "core/device/buffer.h"
#include "core/plan/problem.h"

static int check_buffers(const struct penstock_problem *problem, const struct penstock_device *device,
                         const struct penstock_job *job)
{
    size_t in_bytes = penstock__problem_in_bytes(problem, job->samples);
    size_t out_bytes = penstock__problem_out_bytes(problem, job->frames);
    int status;
    if ((status = penstock__buffer_check(job->in, device, "input", in_bytes)) ||
        (status = penstock__buffer_check(job->out, device, "output", out_bytes)))
        return status;
    if (penstock__buffer_overlap(job->in, in_bytes, job->out, out_bytes) &&
        !(penstock__buffer_same(job->in, job->out) && in_bytes == out_bytes &&
          penstock__problem_frame_by_frame(problem)))
        return penstock__error(
            PENSTOCK_ERR_ARGUMENT,
            "input (%zu bytes) and output (%zu bytes) overlap; they may be the same where each frame "
            "has as many bytes of either, or else must lie apart",
            in_bytes, out_bytes);
    return PENSTOCK_OK;
}

int penstock__job_place(struct penstock_job *job, struct penstock__executor *executor, const penstock_buffer *in,
                        penstock_buffer *out, const penstock_queue *queue)
{
    const struct penstock_device *device = executor->state.device;
    int status = penstock__queue_check(queue);
    if (status)
        return status;
    if (!penstock__executor_on(executor, queue->slot.device))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "the work is on %s, its queue on %s", device->name,
                               queue->slot.device->name);
    job->in = (struct penstock_buffer *)(uintptr_t)in; /* which is only read */
    job->out = out;
    return check_buffers(executor->state.problem, queue->slot.device, job);
}

int penstock__enqueue(struct penstock__executor *executor, const struct penstock_job *job, penstock_queue *queue)
{
    const struct penstock_backend *backend = queue->slot.device->backend;
    int status = backend->enqueue(&queue->slot, &executor->state, job);
    if (!status && backend->flush)
        status = backend->flush(&queue->slot);
    return status ? penstock__queue_note(queue, status) : PENSTOCK_OK;
}
