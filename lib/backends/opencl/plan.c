/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A plan: tables and sources of its kernels, the compiled kernels, and their launch. */
#include "backends/opencl/opencl.h"
#include "gpu/kernel.h"
#include "gpu/launch.h"

static int build_kernel(struct opencl_pass *pass, struct penstock_plan_state *plan,
                        const struct gpu_decomposition *decomposition, unsigned index, const struct gpu_table *table)
{
    const struct opencl_device *device = plan->device->priv;
    struct gpu_text source = {0};
    cl_int code = CL_SUCCESS;
    int status =
        penstock__gpu_kernel_source(&source, plan->device->context, decomposition, index, table, &plan->problem->fft);
    if (!status)
        status = penstock__opencl_program(&pass->program, plan->device, source.content);
    penstock__text_free(&source);
    if (status)
        return status;
    pass->kernel = device->api->CreateKernel(pass->program, "fft", &code);
    return code ? penstock__opencl_error(plan->device, "clCreateKernel", code) : PENSTOCK_OK;
}

static int upload_table(struct opencl_pass *pass, const struct penstock_plan_state *plan, const struct gpu_table *table)
{
    const struct opencl_device *device = plan->device->priv;
    cl_int code;
    pass->table = device->api->CreateBuffer(device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                            table->count * sizeof(float), table->values, &code);
    return code ? penstock__opencl_error(plan->device, "clCreateBuffer", code) : PENSTOCK_OK;
}

static void release(struct penstock_plan_state *plan)
{
    struct opencl_plan *self = plan->priv;
    const struct opencl_api *cl = ((const struct opencl_device *)plan->device->priv)->api;
    for (struct opencl_pass *pass = self->passes; pass < self->passes + GPU_MAX_PASSES; pass++) {
        if (pass->kernel)
            cl->ReleaseKernel(pass->kernel);
        if (pass->program)
            cl->ReleaseProgram(pass->program);
        if (pass->table)
            cl->ReleaseMemObject(pass->table);
        *pass = (struct opencl_pass){0};
    }
}

static int make(struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition, unsigned index,
                const struct gpu_table *table, size_t *group_limit)
{
    struct opencl_pass *pass = &((struct opencl_plan *)plan->priv)->passes[index];
    int status;
    if ((status = build_kernel(pass, plan, decomposition, index, table)) ||
        (status = penstock__opencl_group_limit(group_limit, plan->device, pass->kernel)))
        return status;
    return upload_table(pass, plan, table);
}

static int passes_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant)
{
    static const struct gpu_maker maker = {.make = make, .release = release};
    struct opencl_plan *self = plan->priv;
    int status = penstock__gpu_make(plan, &self->decomposition, &maker, limits, variant);
    if (status)
        return status;
    if (pthread_mutex_init(&self->arguments, NULL)) {
        release(plan);
        return penstock__error(PENSTOCK_ERR_MEMORY, "out of memory for a mutex");
    }
    return PENSTOCK_OK;
}

static void passes_free(struct penstock_plan_state *plan)
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

static cl_mem memory_of_step(const struct opencl_slot *slot, const struct penstock_job *job, enum gpu_memory which)
{
    return which == GPU_IN ? memory_of(job->in) : which == GPU_OUT ? memory_of(job->out) : slot->scratch[which];
}

static cl_int set_arguments(const struct penstock_plan_state *plan, const struct opencl_pass *pass,
                            const struct gpu_step *step, const struct opencl_slot *slot, const struct penstock_job *job,
                            const cl_mem images[2])
{
    const struct opencl_api *cl = ((const struct opencl_device *)plan->device->priv)->api;
    cl_mem in = memory_of_step(slot, job, step->from), out = memory_of_step(slot, job, step->to);
    cl_mem gather = job->gather ? memory_of(job->gather) : in;
    in = images[0] ? images[0] : in;
    out = images[1] ? images[1] : out;
    cl_int rows = (cl_int)step->rows, first = (cl_int)step->first;
    cl_ulong plane = penstock__gpu_plane_of(plan, job);
    const struct opencl_argument arguments[] = {
        {sizeof in, &in},      {sizeof gather, &gather}, {sizeof pass->table, &pass->table},
        {sizeof out, &out},    {sizeof rows, &rows},     {sizeof plane, &plane},
        {sizeof first, &first}};
    return penstock__opencl_arguments(cl, pass->kernel, arguments, sizeof arguments / sizeof arguments[0]);
}

/* Of the caller's memory, where the decomposition has images. */
static int find_images(cl_mem images[2], struct penstock_slot *slot, const struct gpu_decomposition *decomposition,
                       const struct gpu_step *step, const struct penstock_job *job)
{
    int status = PENSTOCK_OK;
    if (decomposition->texel && step->from == GPU_IN)
        status = penstock__opencl_image(&images[0], slot, job->in, decomposition->texel, CL_MEM_READ_ONLY);
    if (!status && decomposition->texel && step->to == GPU_OUT)
        status = penstock__opencl_image(&images[1], slot, job->out, decomposition->texel, CL_MEM_WRITE_ONLY);
    return status;
}

static int launch(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job,
                  const struct gpu_step *step)
{
    struct opencl_plan *self = plan->priv;
    const struct opencl_api *cl = ((const struct opencl_device *)plan->device->priv)->api;
    const struct opencl_slot *queue = slot->priv;
    const struct opencl_pass *pass = &self->passes[step->pass];
    const struct gpu_launch_config *config = &self->decomposition.pass[step->pass].config;
    size_t x = penstock__gpu_group_x(config), local[2] = {x, penstock__gpu_group_size(config) / x},
           global[2] = {step->groups * x, local[1]};
    cl_mem images[2] = {NULL, NULL};
    cl_int code;
    int status = find_images(images, slot, &self->decomposition, step, job);
    if (status)
        return status;
    pthread_mutex_lock(&self->arguments);
    if (!(code = set_arguments(plan, pass, step, queue, job, images)))
        code = cl->EnqueueNDRangeKernel(queue->queue, pass->kernel, 2, NULL, global, local, 0, NULL, NULL);
    pthread_mutex_unlock(&self->arguments);
    return code ? penstock__opencl_error(plan->device, "clEnqueueNDRangeKernel", code) : PENSTOCK_OK;
}

static int passes_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    struct opencl_plan *self = plan->priv;
    struct gpu_step step;
    unsigned scratches;
    size_t bytes;
    int status = penstock__gpu_scratch(&scratches, &bytes, plan, &self->decomposition, job);
    for (unsigned i = 0; i < scratches && bytes && !status; i++)
        status = penstock__opencl_reserve(slot, i, bytes);
    for (size_t i = 0; !status && penstock__gpu_step(&step, plan, &self->decomposition, job, i); i++)
        status = launch(slot, plan, job, &step);
    if (status)
        return status;
    return job->out->wrapped ? penstock__opencl_show(slot, job->out) : PENSTOCK_OK;
}

int penstock__opencl_plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    static const struct gpu_routes routes = {
        .viterbi = {penstock__opencl_viterbi_init, penstock__opencl_viterbi_free, penstock__opencl_viterbi_enqueue},
        .fused = {penstock__opencl_fused_init, penstock__opencl_fused_free, penstock__opencl_fused_enqueue},
        .passes = {passes_init, passes_free, passes_enqueue},
    };
    return penstock__gpu_plan_init(plan, &routes, &((const struct opencl_device *)plan->device->priv)->limits, variant);
}
