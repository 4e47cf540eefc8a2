/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Queues of work on a device, and plans that are enqueued there with the samples in its memory. */
#include "core/buffer.h"
#include "core/devices.h"
#include "core/plan.h"
#include "core/problem.h"

#include <stdio.h>

/* ---------------------------------------------------------------- life ------------------------ */

/* `native` or, where that is NULL, a queue of its own. */
static int open_slot(struct penstock_slot *slot, struct penstock_device *device, const uint64_t *native)
{
    const struct penstock_backend *backend = device->backend;
    int status;
    if (native && !backend->slot_adopt)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no queues to be wrapped", device->name);
    slot->device = device;
    if (backend->slot_bytes && !(slot->priv = penstock__calloc(1, backend->slot_bytes)))
        return PENSTOCK_ERR_MEMORY;
    status = native ? backend->slot_adopt(slot, *native) : backend->slot_init(slot);
    if (status)
        penstock__free(slot->priv);
    return status;
}

static int make_on(penstock_queue **queue, struct penstock_device *device, const uint64_t *native)
{
    penstock_queue *new = penstock__calloc(1, sizeof *new);
    int status;
    if (!new)
        return PENSTOCK_ERR_MEMORY;
    if ((status = open_slot(&new->slot, device, native))) {
        penstock__free(new);
        return status;
    }
    *queue = new;
    return PENSTOCK_OK;
}

int penstock__queue_make(penstock_queue **queue, struct penstock_device *device)
{
    return make_on(queue, device, NULL);
}

static int make(penstock_queue **queue, penstock_context *context, const char *name, const uint64_t *native)
{
    struct penstock_device *device;
    int status;
    if (!queue)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a queue is to be made, and there is no place for it (NULL)");
    *queue = NULL;
    if (!context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a queue is to be made, and the context is NULL");
    status = penstock__buffer_device(&device, context, name);
    return status ? status : make_on(queue, device, native);
}

int penstock_queue_new(penstock_queue **queue, penstock_context *context, const char *device)
{
    return make(queue, context, device, NULL);
}

int penstock_queue_wrap(penstock_queue **queue, penstock_context *context, const char *device, uint64_t native)
{
    return make(queue, context, device, &native);
}

void penstock_queue_free(penstock_queue *queue)
{
    if (!queue)
        return;
    if (!queue->failure)
        penstock__queue_drain(queue);
    queue->slot.device->backend->slot_free(&queue->slot);
    penstock__free(queue->slot.priv);
    penstock__free(queue);
}

uint64_t penstock_queue_native(const penstock_queue *queue)
{
    return queue && queue->slot.device->backend->slot_native ? queue->slot.device->backend->slot_native(&queue->slot)
                                                             : 0;
}

/* ---------------------------------------------------------------- order ----------------------- */

int penstock__queue_check(const penstock_queue *queue)
{
    if (!queue)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "the queue is NULL");
    return queue->failure ? penstock__error(queue->failure, "%s", queue->failure_text) : PENSTOCK_OK;
}

int penstock__queue_note(penstock_queue *queue, int status)
{
    if (status && status != PENSTOCK_ERR_ARGUMENT && status != PENSTOCK_ERR_UNSUPPORTED && !queue->failure) {
        queue->failure = status;
        snprintf(queue->failure_text, sizeof queue->failure_text, "%s", penstock_error_text());
    }
    return status;
}

int penstock__queue_drain(penstock_queue *queue)
{
    const struct penstock_backend *backend = queue->slot.device->backend;
    uint64_t mark;
    int status = backend->mark(&queue->slot, &mark);
    return penstock__queue_note(queue, status ? status : backend->wait(&queue->slot, mark));
}

int penstock_queue_wait(penstock_queue *queue)
{
    int status = penstock__queue_check(queue);
    return status ? status : penstock__queue_drain(queue);
}

int penstock_queue_follow(penstock_queue *queue, penstock_queue *before)
{
    int status = penstock__queue_check(queue);
    if (status || (status = penstock__queue_check(before)))
        return status;
    if (queue->slot.device != before->slot.device)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a queue on %s cannot follow one on %s", queue->slot.device->name,
                               before->slot.device->name);
    if (queue == before)
        return PENSTOCK_OK;
    if (!queue->slot.device->backend->follow)
        return penstock__queue_drain(before);
    return penstock__queue_note(queue, queue->slot.device->backend->follow(&queue->slot, &before->slot));
}

/* ---------------------------------------------------------------- plans ----------------------- */

/* Whether each frame has an output of the size of its own input, which the device may put in its place. */
static bool fits_in_place(const struct penstock_problem *problem, size_t in_bytes, size_t out_bytes)
{
    return in_bytes == out_bytes && problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.format != PENSTOCK_PLANAR &&
           problem->fft.average == 1 && problem->in_bytes == problem->out_bytes;
}

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
        !(penstock__buffer_same(job->in, job->out) && fits_in_place(problem, in_bytes, out_bytes)))
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

int penstock__enqueue(struct penstock__executor *executor, const struct penstock_job *job, penstock_queue *queue)
{
    const struct penstock_backend *backend = queue->slot.device->backend;
    int status = backend->enqueue(&queue->slot, &executor->state, job);
    if (!status && backend->flush)
        status = backend->flush(&queue->slot);
    return status ? penstock__queue_note(queue, status) : PENSTOCK_OK;
}

int penstock_plan_enqueue(penstock_plan *plan, const penstock_buffer *in, penstock_buffer *out, size_t frames,
                          penstock_queue *queue)
{
    int status;
    if (!plan)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_plan_enqueue: the plan is NULL");
    const struct penstock_problem *problem = penstock__plan_problem(plan);
    struct penstock__executor *executor = penstock__plan_executor_now(plan);
    if (!frames)
        return penstock__queue_check(queue);
    if ((status = check_frames(problem, frames)))
        return status;
    struct penstock_job job = {.frames = frames, .samples = penstock__problem_samples(problem, frames)};
    if ((status = penstock__job_place(&job, executor, in, out, queue)))
        return status;
    return penstock__enqueue(penstock__executor_on(executor, queue->slot.device), &job, queue);
}
