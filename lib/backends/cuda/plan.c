/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A plan: tables and sources of its kernels, the compiled kernels, and their launch. */
#include "backends/cuda/cuda.h"
#include "gpu/kernel.h"
#include "gpu/launch.h"

static int compile(struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition)
{
    struct cuda_pass *passes = ((struct cuda_plan *)plan->priv)->passes;
    struct gpu_text texts[GPU_MAX_PASSES] = {0};
    const char *sources[GPU_MAX_PASSES];
    CUmodule modules[GPU_MAX_PASSES] = {0};
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < decomposition->count && !status; i++) {
        struct gpu_table table;
        penstock__gpu_table_plan(&table, decomposition, i, &plan->problem->fft);
        status = penstock__gpu_kernel_source(&texts[i], plan->device->context, decomposition, i, &table,
                                             &plan->problem->fft);
        sources[i] = texts[i].content;
    }
    if (!status)
        status = penstock__cuda_programs(modules, plan->device, sources, decomposition->count);
    for (unsigned i = 0; i < decomposition->count; i++) {
        passes[i].module = modules[i];
        penstock__text_free(&texts[i]);
    }
    return status;
}

static int make(struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition, unsigned index,
                const struct gpu_table *table, size_t *group_limit)
{
    const struct cuda_api *cuda = penstock__cuda_opened(plan->device)->api;
    struct cuda_pass *pass = &((struct cuda_plan *)plan->priv)->passes[index];
    int limit = 0;
    int status = penstock__cuda_function(&pass->function, plan->device, pass->module, "fft",
                                         penstock__gpu_local_bytes(&decomposition->pass[index].config));
    if (!status)
        status = penstock__cuda_check(
            plan->device, "cuFuncGetAttribute",
            cuda->FuncGetAttribute(&limit, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, pass->function));
    *group_limit = (size_t)limit;
    return status ? status : penstock__cuda_table(&pass->table, plan->device, table->values, table->count);
}

static void release(struct penstock_plan_state *plan)
{
    struct cuda_plan *self = plan->priv;
    const struct cuda_api *cuda = penstock__cuda_opened(plan->device)->api;
    for (struct cuda_pass *pass = self->passes; pass < self->passes + GPU_MAX_PASSES; pass++) {
        if (pass->module)
            cuda->ModuleUnload(pass->module);
        if (pass->table)
            cuda->MemFree(pass->table);
        *pass = (struct cuda_pass){0};
    }
}

static int passes_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant)
{
    static const struct gpu_maker maker = {.compile = compile, .make = make, .release = release};
    struct cuda_plan *self = plan->priv;
    int status = penstock__cuda_enter(plan->device);
    if (status)
        return status;
    status = penstock__gpu_make(plan, &self->decomposition, &maker, limits, variant);
    penstock__cuda_leave(plan->device);
    return status;
}

static void passes_free(struct penstock_plan_state *plan)
{
    bool entered = !penstock__cuda_enter(plan->device);
    release(plan);
    if (entered)
        penstock__cuda_leave(plan->device);
}

/* ---------------------------------------------------------------- launch ---------------------- */

static CUdeviceptr memory_of(const struct cuda_slot *slot, const struct penstock_job *job, enum gpu_memory which)
{
    return which == GPU_IN    ? penstock__cuda_memory(job->in)
           : which == GPU_OUT ? penstock__cuda_memory(job->out)
                              : slot->scratch[which];
}

static int launch(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job,
                  const struct gpu_step *step)
{
    struct cuda_plan *self = plan->priv;
    struct cuda_pass *pass = &self->passes[step->pass];
    const struct cuda_slot *queue = slot->priv;
    const struct gpu_launch_config *config = &self->decomposition.pass[step->pass].config;
    unsigned x = penstock__gpu_group_x(config), y = penstock__gpu_group_size(config) / x;
    CUdeviceptr in = memory_of(queue, job, step->from), out = memory_of(queue, job, step->to);
    CUdeviceptr gather = job->gather ? penstock__cuda_memory(job->gather) : in;
    int32_t rows = (int32_t)step->rows, first = (int32_t)step->first;
    uint64_t plane = penstock__gpu_plane_of(plan, job);
    void *arguments[] = {&in, &gather, &pass->table, &out, &rows, &plane, &first};
    return penstock__cuda_launch(plan->device, pass->function,
                                 &(struct cuda_grid){step->groups, x, y, penstock__gpu_local_bytes(config)},
                                 queue->stream, arguments);
}

static int passes_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    struct cuda_plan *self = plan->priv;
    struct gpu_step step;
    unsigned scratches;
    size_t bytes;
    int status = penstock__gpu_scratch(&scratches, &bytes, plan, &self->decomposition, job);
    if (status || !job->frames || (status = penstock__cuda_enter(plan->device)))
        return status;
    for (unsigned i = 0; i < scratches && !status; i++)
        status = penstock__cuda_reserve(slot, i, bytes);
    for (size_t i = 0; !status && penstock__gpu_step(&step, plan, &self->decomposition, job, i); i++)
        status = launch(slot, plan, job, &step);
    penstock__cuda_leave(plan->device);
    return status;
}

int penstock__cuda_plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    static const struct gpu_routes routes = {
        .viterbi = {penstock__cuda_viterbi_init, penstock__cuda_viterbi_free, penstock__cuda_viterbi_enqueue},
        .fused = {penstock__cuda_fused_init, penstock__cuda_fused_free, penstock__cuda_fused_enqueue},
        .passes = {passes_init, passes_free, passes_enqueue},
    };
    return penstock__gpu_plan_init(plan, &routes, &penstock__cuda_opened(plan->device)->limits, variant);
}
