/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans of kind VITERBI: kernels of lib/gpu/viterbi.h, one after the other. */
#include "backends/opencl/opencl.h"

#include <string.h>

static const struct opencl_device *device_of(const struct penstock_plan_state *plan)
{
    return plan->device->priv;
}

static struct opencl_viterbi *self_of(const struct penstock_plan_state *plan)
{
    return &((struct opencl_plan *)plan->priv)->viterbi;
}

static cl_mem memory_of(const struct penstock_buffer *buffer)
{
    return ((const struct opencl_buffer *)buffer->priv)->memory;
}

/* A driver that allows a kernel fewer work-items than it has leaves the next variant. */
static int make_kernel(struct penstock_plan_state *plan, unsigned which, const char *name)
{
    struct opencl_viterbi *self = self_of(plan);
    const struct opencl_api *cl = device_of(plan)->api;
    const unsigned group = penstock__gpu_viterbi_group(&self->config, which);
    size_t limit = 0;
    cl_int code = CL_SUCCESS;
    int status;
    self->kernels[which] = cl->CreateKernel(self->program, name, &code);
    if (code)
        return penstock__opencl_error(plan->device, "clCreateKernel", code);
    if ((status = penstock__opencl_group_limit(&limit, plan->device, self->kernels[which])))
        return status;
    if (limit < group)
        return penstock__error(PENSTOCK_ERR_DEVICE, "%s: the kernel runs with %zu work-items, it needs %u",
                               plan->device->name, limit, group);
    return PENSTOCK_OK;
}

static int build(struct penstock_plan_state *plan)
{
    struct opencl_viterbi *self = self_of(plan);
    struct gpu_text source = {0};
    int status =
        penstock__gpu_viterbi_source(&source, plan->device->context, &self->config, plan->problem, GPU_VITERBI_BOTH);
    if (!status)
        status = penstock__opencl_program(&self->program, plan->device, source.content);
    penstock__text_free(&source);
    for (unsigned i = 0; i < GPU_VITERBI_KERNELS && !status; i++) {
        const char *name = penstock__gpu_viterbi_name(&self->config, plan->problem, i);
        if (name)
            status = make_kernel(plan, i, name);
    }
    return status;
}

static void release(struct penstock_plan_state *plan)
{
    struct opencl_viterbi *self = self_of(plan);
    const struct opencl_api *cl = device_of(plan)->api;
    for (unsigned i = 0; i < GPU_VITERBI_KERNELS; i++) {
        if (self->kernels[i])
            cl->ReleaseKernel(self->kernels[i]);
        self->kernels[i] = NULL;
    }
    if (self->program)
        cl->ReleaseProgram(self->program);
    self->program = NULL;
}

int penstock__opencl_viterbi_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant)
{
    struct opencl_viterbi *self = self_of(plan);
    const bool pairs = device_of(plan)->is_gpu && strstr(device_of(plan)->identity, "NVIDIA");
    int status = penstock__gpu_viterbi_config(&self->config, plan->problem, limits, variant, pairs);
    if (status)
        return status;
    if ((status = build(plan))) {
        release(plan);
        return status;
    }
    if (pthread_mutex_init(&((struct opencl_plan *)plan->priv)->arguments, NULL)) {
        release(plan);
        return penstock__error(PENSTOCK_ERR_MEMORY, "out of memory for a mutex");
    }
    penstock__gpu_viterbi_describe(plan, &self->config);
    return PENSTOCK_OK;
}

void penstock__opencl_viterbi_free(struct penstock_plan_state *plan)
{
    pthread_mutex_destroy(&((struct opencl_plan *)plan->priv)->arguments);
    release(plan);
}

/* ---------------------------------------------------------------- launch ---------------------- */

static cl_int set_arguments(const struct opencl_api *cl, cl_kernel kernel, const struct opencl_slot *slot,
                            const struct penstock_job *job, const struct gpu_viterbi_job *work)
{
    cl_mem in = memory_of(job->in), out = memory_of(job->out), blocks = job->gather ? memory_of(job->gather) : NULL;
    const struct opencl_argument arguments[] = {{sizeof in, &in},
                                                {sizeof blocks, &blocks},
                                                {sizeof(cl_mem), &slot->scratch[GPU_VITERBI_ROWS]},
                                                {sizeof(cl_mem), &slot->scratch[GPU_VITERBI_WORK]},
                                                {sizeof(cl_mem), &slot->scratch[GPU_VITERBI_DECISIONS]},
                                                {sizeof out, &out},
                                                {sizeof work->count, &work->count},
                                                {sizeof work->windows, &work->windows},
                                                {sizeof work->length, &work->length},
                                                {sizeof work->whole_groups, &work->whole_groups},
                                                {sizeof work->bytes, &work->bytes},
                                                {sizeof work->mask, &work->mask}};
    return penstock__opencl_arguments(cl, kernel, arguments, sizeof arguments / sizeof arguments[0]);
}

int penstock__opencl_viterbi_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                     const struct penstock_job *job)
{
    struct opencl_plan *whole = plan->priv;
    const struct opencl_viterbi *self = &whole->viterbi;
    const struct opencl_api *cl = device_of(plan)->api;
    const struct opencl_slot *queue = slot->priv;
    struct gpu_viterbi_job work;
    cl_int code = CL_SUCCESS;
    int status = job->frames ? penstock__gpu_viterbi_job(&work, plan, &self->config, job) : PENSTOCK_OK;
    if (status || !job->frames)
        return status;
    for (unsigned i = 0; i < GPU_VITERBI_MEMORIES && !status; i++)
        if (work.memory[i])
            status = penstock__opencl_reserve(slot, i, work.memory[i]);
    if (status)
        return status;
    pthread_mutex_lock(&whole->arguments);
    for (unsigned i = 0; i < GPU_VITERBI_KERNELS && !code; i++) {
        size_t local = penstock__gpu_viterbi_group(&self->config, i), global = work.groups[i] * local;
        if (global && !(code = set_arguments(cl, self->kernels[i], queue, job, &work)))
            code = cl->EnqueueNDRangeKernel(queue->queue, self->kernels[i], 1, NULL, &global, &local, 0, NULL, NULL);
    }
    pthread_mutex_unlock(&whole->arguments);
    if (code)
        return penstock__opencl_error(plan->device, "clEnqueueNDRangeKernel", code);
    return job->out->wrapped ? penstock__opencl_show(slot, job->out) : PENSTOCK_OK;
}
