/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A plan: shape, tables and source of the kernel, the compiled kernel, and its launch. */
#include "backends/opencl/opencl.h"
#include "gpu/kernel.h"
#include "gpu/launch.h"

static int build_kernel(struct penstock_plan_state *plan, const struct gpu_shape *shape, const struct gpu_table *table)
{
    struct opencl_plan *self = plan->priv;
    const struct opencl_device *device = plan->device->priv;
    struct gpu_text source = {0};
    cl_int code = CL_SUCCESS;
    int status = penstock__gpu_kernel_source(&source, plan->device->context, shape, table, &plan->problem->fft);
    if (!status)
        status = penstock__opencl_program(&self->program, plan->device, source.content);
    penstock__text_free(&source);
    if (status)
        return status;
    self->kernel = device->api->CreateKernel(self->program, "fft", &code);
    return code ? penstock__opencl_error(plan->device, "clCreateKernel", code) : PENSTOCK_OK;
}

/* Work-items that this kernel can have in a group: fewer than the device's limit where it needs many registers. */
static int kernel_group_limit(struct penstock_plan_state *plan, size_t *limit)
{
    struct opencl_plan *self = plan->priv;
    const struct opencl_device *device = plan->device->priv;
    cl_int code = device->api->GetKernelWorkGroupInfo(self->kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE,
                                                      sizeof *limit, limit, NULL);
    return code ? penstock__opencl_error(plan->device, "clGetKernelWorkGroupInfo", code) : PENSTOCK_OK;
}

static int upload_table(struct penstock_plan_state *plan, const struct gpu_table *table)
{
    struct opencl_plan *self = plan->priv;
    const struct opencl_device *device = plan->device->priv;
    cl_int code;
    self->table = device->api->CreateBuffer(device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                            table->count * sizeof(float), table->values, &code);
    return code ? penstock__opencl_error(plan->device, "clCreateBuffer", code) : PENSTOCK_OK;
}

static void release(struct penstock_plan_state *plan)
{
    struct opencl_plan *self = plan->priv;
    const struct opencl_api *cl = ((const struct opencl_device *)plan->device->priv)->api;
    if (self->kernel)
        cl->ReleaseKernel(self->kernel);
    if (self->program)
        cl->ReleaseProgram(self->program);
    if (self->table)
        cl->ReleaseMemObject(self->table);
    self->kernel = NULL;
    self->program = NULL;
    self->table = NULL;
}

static int make(struct penstock_plan_state *plan, const struct gpu_shape *shape, const struct gpu_table *table,
                size_t *group_limit)
{
    int status;
    if ((status = build_kernel(plan, shape, table)) || (status = kernel_group_limit(plan, group_limit)))
        return status;
    return upload_table(plan, table);
}

int penstock__opencl_plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    static const struct gpu_maker maker = {make, release};
    struct opencl_plan *self = plan->priv;
    const struct opencl_device *device = plan->device->priv;
    int status = penstock__gpu_make(plan, &self->shape, &maker, &device->limits, variant);
    if (status)
        return status;
    if (pthread_mutex_init(&self->arguments, NULL)) {
        release(plan);
        return penstock__error(PENSTOCK_ERR_MEMORY, "out of memory for a mutex");
    }
    return PENSTOCK_OK;
}

void penstock__opencl_plan_free(struct penstock_plan_state *plan)
{
    struct opencl_plan *self = plan->priv;
    pthread_mutex_destroy(&self->arguments);
    release(plan);
}

/* ---------------------------------------------------------------- launch ---------------------- */

static cl_mem memory_of(const struct penstock_buffer *buffer)
{
    return ((const struct opencl_buffer *)buffer->priv)->memory;
}

static cl_int set_arguments(const struct opencl_api *cl, const struct opencl_plan *self, const struct penstock_job *job,
                            cl_int rows)
{
    cl_mem in = memory_of(job->in), out = memory_of(job->out), gather = job->gather ? memory_of(job->gather) : in;
    cl_ulong plane = job->samples;
    const struct {
        size_t bytes;
        const void *value;
    } arguments[] = {{sizeof in, &in},   {sizeof gather, &gather}, {sizeof self->table, &self->table},
                     {sizeof out, &out}, {sizeof rows, &rows},     {sizeof plane, &plane}};
    for (cl_uint i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        cl_int code = cl->SetKernelArg(self->kernel, i, arguments[i].bytes, arguments[i].value);
        if (code)
            return code;
    }
    return CL_SUCCESS;
}

static cl_int launch(const struct opencl_api *cl, cl_command_queue queue, struct opencl_plan *self,
                     const struct penstock_job *job, size_t rows, size_t groups)
{
    const struct gpu_shape *shape = &self->shape;
    size_t x = penstock__gpu_group_x(shape), local[2] = {x, penstock__gpu_group_size(shape) / x},
           global[2] = {groups * x, local[1]};
    cl_int code;
    pthread_mutex_lock(&self->arguments);
    if (!(code = set_arguments(cl, self, job, (cl_int)rows)))
        code = cl->EnqueueNDRangeKernel(queue, self->kernel, 2, NULL, global, local, 0, NULL, NULL);
    pthread_mutex_unlock(&self->arguments);
    return code;
}

/* Memory of the host that a kernel has written is only sure to show it when it is mapped. */
static cl_int show_to_host(const struct opencl_api *cl, cl_command_queue queue, const struct penstock_buffer *buffer)
{
    cl_int code;
    void *host =
        cl->EnqueueMapBuffer(queue, memory_of(buffer), CL_FALSE, CL_MAP_READ, 0, buffer->bytes, 0, NULL, NULL, &code);
    return code ? code : cl->EnqueueUnmapMemObject(queue, memory_of(buffer), host, 0, NULL, NULL);
}

int penstock__opencl_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                             const struct penstock_job *job)
{
    struct opencl_plan *self = plan->priv;
    const struct opencl_api *cl = ((const struct opencl_device *)plan->device->priv)->api;
    cl_command_queue queue = ((const struct opencl_slot *)slot->priv)->queue;
    size_t rows, groups;
    int status = penstock__gpu_grid(&rows, &groups, plan, &self->shape, job);
    cl_int code;
    if (status || !rows)
        return status;
    if ((code = launch(cl, queue, self, job, rows, groups)))
        return penstock__opencl_error(plan->device, "clEnqueueNDRangeKernel", code);
    if (job->out->wrapped && (code = show_to_host(cl, queue, job->out)))
        return penstock__opencl_error(plan->device, "clEnqueueMapBuffer", code);
    return PENSTOCK_OK;
}
