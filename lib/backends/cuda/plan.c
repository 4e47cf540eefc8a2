/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A plan: shape, tables and source of the kernel, the compiled kernel, and its launch. */
#include "backends/cuda/cuda.h"
#include "gpu/kernel.h"
#include "gpu/launch.h"

/* Dynamic shared memory that a kernel may have without asking for more. */
#define USUAL_SHARED_BYTES ((size_t)48 << 10)

static int build_kernel(struct penstock_plan_state *plan, const struct gpu_shape *shape, const struct gpu_table *table)
{
    struct cuda_plan *self = plan->priv;
    struct gpu_text source = {0};
    int status = penstock__gpu_kernel_source(&source, plan->device->context, shape, table, &plan->problem->fft);
    if (!status)
        status = penstock__cuda_program(&self->module, plan->device, source.content);
    penstock__text_free(&source);
    return status;
}

/* Finds the kernel in its module, lets it have the shared memory that it needs, and asks for its limit. */
static int prepare_kernel(struct penstock_plan_state *plan, const struct gpu_shape *shape, size_t *group_limit)
{
    struct cuda_plan *self = plan->priv;
    const struct cuda_api *cuda = penstock__cuda_opened(plan->device)->api;
    size_t shared = penstock__gpu_local_bytes(shape);
    int limit = 0;
    int status = penstock__cuda_check(plan->device, "cuModuleGetFunction",
                                      cuda->ModuleGetFunction(&self->function, self->module, "fft"));
    if (!status && shared > USUAL_SHARED_BYTES)
        status = penstock__cuda_check(
            plan->device, "cuFuncSetAttribute",
            cuda->FuncSetAttribute(self->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
    if (!status)
        status = penstock__cuda_check(
            plan->device, "cuFuncGetAttribute",
            cuda->FuncGetAttribute(&limit, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, self->function));
    *group_limit = (size_t)limit;
    return status;
}

/* From pageable memory the copy may still be under way when cuMemcpyHtoD returns, and slots' streams do not wait for
 * it.
 */
static int upload_table(struct penstock_plan_state *plan, const struct gpu_table *table)
{
    struct cuda_plan *self = plan->priv;
    const struct cuda_api *cuda = penstock__cuda_opened(plan->device)->api;
    size_t bytes = table->count * sizeof(float);
    int status = penstock__cuda_check(plan->device, "cuMemAlloc", cuda->MemAlloc(&self->table, bytes));
    if (status) {
        self->table = 0;
        return status;
    }
    if (!(status =
              penstock__cuda_check(plan->device, "cuMemcpyHtoD", cuda->MemcpyHtoD(self->table, table->values, bytes))))
        status = penstock__cuda_check(plan->device, "cuStreamSynchronize", cuda->StreamSynchronize(NULL));
    return status;
}

static int make(struct penstock_plan_state *plan, const struct gpu_shape *shape, const struct gpu_table *table,
                size_t *group_limit)
{
    int status;
    if ((status = build_kernel(plan, shape, table)) || (status = prepare_kernel(plan, shape, group_limit)))
        return status;
    return upload_table(plan, table);
}

static void release(struct penstock_plan_state *plan)
{
    struct cuda_plan *self = plan->priv;
    const struct cuda_api *cuda = penstock__cuda_opened(plan->device)->api;
    if (self->module)
        cuda->ModuleUnload(self->module);
    if (self->table)
        cuda->MemFree(self->table);
    self->module = NULL;
    self->table = 0;
}

int penstock__cuda_plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    static const struct gpu_maker maker = {make, release};
    struct cuda_plan *self = plan->priv;
    int status = penstock__cuda_enter(plan->device);
    if (status)
        return status;
    status = penstock__gpu_make(plan, &self->shape, &maker, &penstock__cuda_opened(plan->device)->limits, variant);
    penstock__cuda_leave(plan->device);
    return status;
}

void penstock__cuda_plan_free(struct penstock_plan_state *plan)
{
    bool entered = !penstock__cuda_enter(plan->device);
    release(plan);
    if (entered)
        penstock__cuda_leave(plan->device);
}

/* ---------------------------------------------------------------- launch ---------------------- */

static CUresult launch(const struct cuda_api *cuda, CUstream stream, struct cuda_plan *self,
                       const struct penstock_job *job, size_t rows, size_t groups)
{
    const struct gpu_shape *shape = &self->shape;
    unsigned x = penstock__gpu_group_x(shape), y = penstock__gpu_group_size(shape) / x;
    CUdeviceptr in = penstock__cuda_memory(job->in), out = penstock__cuda_memory(job->out);
    CUdeviceptr gather = job->gather ? penstock__cuda_memory(job->gather) : in;
    int32_t row_count = (int32_t)rows;
    uint64_t plane = job->samples;
    void *arguments[] = {&in, &gather, &self->table, &out, &row_count, &plane};
    return cuda->LaunchKernel(self->function, (unsigned)groups, 1, 1, x, y, 1,
                              (unsigned)penstock__gpu_local_bytes(shape), stream, arguments, NULL);
}

int penstock__cuda_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    struct cuda_plan *self = plan->priv;
    CUstream stream = ((const struct cuda_slot *)slot->priv)->stream;
    size_t rows, groups;
    int status = penstock__gpu_grid(&rows, &groups, plan, &self->shape, job);
    if (status || !rows || (status = penstock__cuda_enter(plan->device)))
        return status;
    status = penstock__cuda_check(plan->device, "cuLaunchKernel",
                                  launch(penstock__cuda_opened(plan->device)->api, stream, self, job, rows, groups));
    penstock__cuda_leave(plan->device);
    return status;
}
