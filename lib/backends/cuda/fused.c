/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans of one kernel of lib/gpu/fused_kernel.h: OFDM symbols to soft bits, filters, spectra, plain transforms. */
#include "backends/cuda/cuda.h"

static const struct cuda_api *api_of(const struct penstock_plan_state *plan)
{
    return penstock__cuda_opened(plan->device)->api;
}

static int build(struct penstock_plan_state *plan)
{
    struct cuda_fused *self = &((struct cuda_plan *)plan->priv)->fused;
    struct gpu_text source = {0};
    int status = penstock__fused_source(&source, plan->device->context, &self->kernel, plan->problem);
    if (!status)
        status = penstock__cuda_program(&self->module, plan->device, source.content);
    penstock__text_free(&source);
    return status;
}

static int find_kernels(struct penstock_plan_state *plan)
{
    struct cuda_fused *self = &((struct cuda_plan *)plan->priv)->fused;
    const char *name;
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < FUSED_KERNELS && !status && (name = penstock__fused_name(&self->kernel, i)); i++)
        status = penstock__cuda_function(&self->kernels[i], plan->device, self->module, name, self->kernel.local_bytes);
    return status;
}

static int upload_table(struct penstock_plan_state *plan)
{
    struct cuda_fused *self = &((struct cuda_plan *)plan->priv)->fused;
    float *values;
    size_t count;
    int status = penstock__fused_kernel_table(&values, &count, &self->kernel, plan->problem);
    if (status)
        return status;
    status = penstock__cuda_table(&self->table, plan->device, values, count);
    penstock__free(values);
    return status;
}

static void release(struct penstock_plan_state *plan)
{
    struct cuda_fused *self = &((struct cuda_plan *)plan->priv)->fused;
    if (self->module)
        api_of(plan)->ModuleUnload(self->module);
    if (self->table)
        api_of(plan)->MemFree(self->table);
    self->module = NULL;
    self->table = 0;
}

int penstock__cuda_fused_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant)
{
    struct cuda_fused *self = &((struct cuda_plan *)plan->priv)->fused;
    int status = penstock__fused_kernel_config(&self->kernel, plan->problem, limits, variant, true);
    if (status || (status = penstock__cuda_enter(plan->device)))
        return status;
    if ((status = build(plan)) || (status = find_kernels(plan)) || (status = upload_table(plan)))
        release(plan);
    penstock__cuda_leave(plan->device);
    if (status)
        return status;
    penstock__fused_describe(plan, &self->kernel);
    return PENSTOCK_OK;
}

void penstock__cuda_fused_free(struct penstock_plan_state *plan)
{
    bool entered = !penstock__cuda_enter(plan->device);
    release(plan);
    if (entered)
        penstock__cuda_leave(plan->device);
}

int penstock__cuda_fused_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                 const struct penstock_job *job)
{
    struct cuda_fused *self = &((struct cuda_plan *)plan->priv)->fused;
    CUstream stream = ((const struct cuda_slot *)slot->priv)->stream;
    size_t rows, groups;
    int status = penstock__fused_grid(&rows, &groups, plan, &self->kernel, job);
    if (status || !groups || (status = penstock__cuda_enter(plan->device)))
        return status;
    CUdeviceptr in = penstock__cuda_memory(job->in), out = penstock__cuda_memory(job->out);
    CUdeviceptr places = job->gather ? penstock__cuda_memory(job->gather) : 0,
                gains = job->coefficients ? penstock__cuda_memory(job->coefficients) : self->table;
    int32_t count = (int32_t)rows;
    uint32_t start = job->start, spacing = job->spacing;
    void *arguments[] = {&in, &places, &gains, &self->table, &out, &count, &start, &spacing};
    status = penstock__cuda_launch(
        plan->device, self->kernels[penstock__fused_pick(&self->kernel, job)],
        &(struct cuda_grid){groups, self->kernel.group[0], self->kernel.group[1], self->kernel.local_bytes}, stream,
        arguments);
    penstock__cuda_leave(plan->device);
    return status;
}
