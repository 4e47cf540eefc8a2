/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans of kind VITERBI: kernels of lib/gpu/viterbi.h, one after the other. */
#include "backends/cuda/cuda.h"

static const struct cuda_api *api_of(const struct penstock_plan_state *plan)
{
    return penstock__cuda_opened(plan->device)->api;
}

static struct cuda_viterbi *self_of(const struct penstock_plan_state *plan)
{
    return &((struct cuda_plan *)plan->priv)->viterbi;
}

static int compile(struct penstock_plan_state *plan)
{
    static const enum gpu_viterbi_program programs[] = {GPU_VITERBI_REST, GPU_VITERBI_REGISTERS};
    struct cuda_viterbi *self = self_of(plan);
    const unsigned count = self->config.fast ? 2 : 1;
    struct gpu_text texts[2] = {0};
    const char *sources[2] = {0};
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < count && !status; i++) {
        status =
            penstock__gpu_viterbi_source(&texts[i], plan->device->context, &self->config, plan->problem, programs[i]);
        sources[i] = texts[i].content;
    }
    if (!status)
        status = penstock__cuda_programs(self->modules, plan->device, sources, count);
    for (unsigned i = 0; i < count; i++)
        penstock__text_free(&texts[i]);
    return status;
}

static int build(struct penstock_plan_state *plan)
{
    struct cuda_viterbi *self = self_of(plan);
    int status = compile(plan);
    for (unsigned i = 0; i < GPU_VITERBI_KERNELS && !status; i++) {
        const char *name = penstock__gpu_viterbi_name(&self->config, plan->problem, i);
        const bool decode = i == GPU_VITERBI_DECODE;
        if (name)
            status = penstock__cuda_function(&self->kernels[i], plan->device, self->modules[decode], name,
                                             decode ? self->config.local_bytes
                                                    : penstock__gpu_viterbi_local(&self->config, i));
    }
    return status;
}

static void release(struct penstock_plan_state *plan)
{
    struct cuda_viterbi *self = self_of(plan);
    for (unsigned i = 0; i < 2; i++) {
        if (self->modules[i])
            api_of(plan)->ModuleUnload(self->modules[i]);
        self->modules[i] = NULL;
    }
}

int penstock__cuda_viterbi_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant)
{
    struct cuda_viterbi *self = self_of(plan);
    int status = penstock__gpu_viterbi_config(&self->config, plan->problem, limits, variant, false);
    if (status || (status = penstock__cuda_enter(plan->device)))
        return status;
    if ((status = build(plan)))
        release(plan);
    penstock__cuda_leave(plan->device);
    if (status)
        return status;
    penstock__gpu_viterbi_describe(plan, &self->config);
    return PENSTOCK_OK;
}

void penstock__cuda_viterbi_free(struct penstock_plan_state *plan)
{
    bool entered = !penstock__cuda_enter(plan->device);
    release(plan);
    if (entered)
        penstock__cuda_leave(plan->device);
}

static int launch(struct penstock_slot *slot, const struct penstock_plan_state *plan, const struct penstock_job *job,
                  struct gpu_viterbi_job *work)
{
    struct cuda_viterbi *self = self_of(plan);
    struct cuda_slot *queue = slot->priv;
    CUdeviceptr in = penstock__cuda_memory(job->in), out = penstock__cuda_memory(job->out);
    CUdeviceptr blocks = job->gather ? penstock__cuda_memory(job->gather) : 0;
    void *arguments[] = {&in,
                         &blocks,
                         &queue->scratch[GPU_VITERBI_ROWS],
                         &queue->scratch[GPU_VITERBI_WORK],
                         &queue->scratch[GPU_VITERBI_DECISIONS],
                         &out,
                         &work->count,
                         &work->windows,
                         &work->length,
                         &work->whole_groups,
                         &work->bytes,
                         &work->mask};
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < GPU_VITERBI_KERNELS && !status; i++)
        if (work->groups[i])
            status = penstock__cuda_launch(
                plan->device, self->kernels[i],
                &(struct cuda_grid){work->groups[i], penstock__gpu_viterbi_group(&self->config, i), 1, work->local[i]},
                queue->stream, arguments);
    return status;
}

int penstock__cuda_viterbi_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                   const struct penstock_job *job)
{
    struct gpu_viterbi_job work;
    int status;
    if (!job->frames)
        return PENSTOCK_OK;
    if ((status = penstock__gpu_viterbi_job(&work, plan, &self_of(plan)->config, job)) ||
        (status = penstock__cuda_enter(plan->device)))
        return status;
    for (unsigned i = 0; i < GPU_VITERBI_MEMORIES && !status; i++)
        if (work.memory[i])
            status = penstock__cuda_reserve(slot, i, work.memory[i]);
    if (!status)
        status = launch(slot, plan, job, &work);
    penstock__cuda_leave(plan->device);
    return status;
}
