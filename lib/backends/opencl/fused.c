/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans of one kernel of lib/gpu/fused_kernel.h: OFDM symbols to soft bits, filters, spectra, plain transforms. */
#include "backends/opencl/opencl.h"

static const struct opencl_device *device_of(const struct penstock_plan_state *plan)
{
    return plan->device->priv;
}

static cl_mem memory_of(const struct penstock_buffer *buffer)
{
    return ((const struct opencl_buffer *)buffer->priv)->memory;
}

static int build(struct penstock_plan_state *plan)
{
    struct opencl_fused *self = &((struct opencl_plan *)plan->priv)->fused;
    struct gpu_text source = {0};
    int status = penstock__fused_source(&source, plan->device->context, &self->kernel, plan->problem);
    if (!status)
        status = penstock__opencl_program(&self->program, plan->device, source.content);
    penstock__text_free(&source);
    for (unsigned i = 0; i < FUSED_KERNELS && !status && penstock__fused_name(&self->kernel, i); i++) {
        cl_int code = CL_SUCCESS;
        self->kernels[i] =
            device_of(plan)->api->CreateKernel(self->program, penstock__fused_name(&self->kernel, i), &code);
        if (code)
            status = penstock__opencl_error(plan->device, "clCreateKernel", code);
    }
    return status;
}

/* A driver that allows the kernel fewer work-items than it has (it needs many registers) leaves the next variant. */
static int check_group(struct penstock_plan_state *plan)
{
    struct opencl_fused *self = &((struct opencl_plan *)plan->priv)->fused;
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < FUSED_KERNELS && self->kernels[i] && !status; i++)
        status =
            penstock__opencl_check_group(plan->device, self->kernels[i], self->kernel.group[0] * self->kernel.group[1]);
    return status;
}

static int upload_table(struct penstock_plan_state *plan)
{
    struct opencl_fused *self = &((struct opencl_plan *)plan->priv)->fused;
    float *values;
    size_t count;
    cl_int code;
    int status = penstock__fused_kernel_table(&values, &count, &self->kernel, plan->problem);
    if (status)
        return status;
    self->table = device_of(plan)->api->CreateBuffer(device_of(plan)->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                                     count * sizeof *values, values, &code);
    penstock__free(values);
    return code ? penstock__opencl_error(plan->device, "clCreateBuffer", code) : PENSTOCK_OK;
}

static void release(struct penstock_plan_state *plan)
{
    struct opencl_fused *self = &((struct opencl_plan *)plan->priv)->fused;
    const struct opencl_api *cl = device_of(plan)->api;
    for (unsigned i = 0; i < FUSED_KERNELS; i++) {
        if (self->kernels[i])
            cl->ReleaseKernel(self->kernels[i]);
        self->kernels[i] = NULL;
    }
    if (self->program)
        cl->ReleaseProgram(self->program);
    if (self->table)
        cl->ReleaseMemObject(self->table);
    self->program = NULL;
    self->table = NULL;
}

int penstock__opencl_fused_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant)
{
    struct opencl_fused *self = &((struct opencl_plan *)plan->priv)->fused;
    int status = penstock__fused_kernel_config(&self->kernel, plan->problem, limits, variant, false);
    if (status)
        return status;
    if ((status = build(plan)) || (status = check_group(plan)) || (status = upload_table(plan))) {
        release(plan);
        return status;
    }
    if (pthread_mutex_init(&((struct opencl_plan *)plan->priv)->arguments, NULL)) {
        release(plan);
        return penstock__error(PENSTOCK_ERR_MEMORY, "out of memory for a mutex");
    }
    penstock__fused_describe(plan, &self->kernel);
    return PENSTOCK_OK;
}

void penstock__opencl_fused_free(struct penstock_plan_state *plan)
{
    pthread_mutex_destroy(&((struct opencl_plan *)plan->priv)->arguments);
    release(plan);
}

/* ---------------------------------------------------------------- launch ---------------------- */

/* A launch: work-groups of a job from `first` on, and the memory that they have of the slot's. */
struct launch {
    size_t first, groups;
    cl_mem scratch;
};

static cl_int set_arguments(const struct opencl_api *cl, cl_kernel kernel, const struct opencl_fused *self,
                            const struct penstock_job *job, cl_int rows, const struct launch *launch)
{
    cl_mem in = memory_of(job->in), out = memory_of(job->out),
           gains = job->coefficients ? memory_of(job->coefficients) : self->table;
    cl_mem places = job->gather ? memory_of(job->gather) : launch->scratch;
    cl_uint start = launch->scratch ? (cl_uint)launch->first : job->start;
    const struct opencl_argument arguments[] = {
        {sizeof in, &in},   {sizeof places, &places}, {sizeof gains, &gains}, {sizeof self->table, &self->table},
        {sizeof out, &out}, {sizeof rows, &rows},     {sizeof start, &start}, {sizeof job->spacing, &job->spacing}};
    return penstock__opencl_arguments(cl, kernel, arguments, sizeof arguments / sizeof arguments[0]);
}

static cl_int enqueue(cl_command_queue queue, const struct penstock_plan_state *plan, const struct penstock_job *job,
                      cl_int rows, const struct launch *launch)
{
    const struct opencl_fused *self = &((const struct opencl_plan *)plan->priv)->fused;
    const struct opencl_api *cl = device_of(plan)->api;
    cl_kernel kernel = self->kernels[penstock__fused_pick(&self->kernel, job)];
    size_t local[2] = {self->kernel.group[0], self->kernel.group[1]}, global[2] = {launch->groups * local[0], local[1]};
    cl_int code = set_arguments(cl, kernel, self, job, rows, launch);
    return code ? code : cl->EnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
}

int penstock__opencl_fused_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                   const struct penstock_job *job)
{
    struct opencl_plan *whole = plan->priv;
    const struct fused_kernel *kernel = &whole->fused.kernel;
    const struct opencl_slot *queue = slot->priv;
    size_t rows, groups, at_once;
    int status = penstock__fused_grid(&rows, &groups, plan, kernel, job);
    cl_int code = CL_SUCCESS;
    if (status || !groups)
        return status;
    at_once = penstock__fused_at_once(plan, kernel, groups);
    if (kernel->scratch_bytes && (status = penstock__opencl_reserve(slot, 0, at_once * kernel->scratch_bytes)))
        return status;
    pthread_mutex_lock(&whole->arguments);
    for (struct launch launch = {0}; launch.first < groups && !code; launch.first += at_once) {
        launch.groups = groups - launch.first < at_once ? groups - launch.first : at_once;
        launch.scratch = kernel->scratch_bytes ? queue->scratch[0] : NULL;
        code = enqueue(queue->queue, plan, job, (cl_int)rows, &launch);
    }
    pthread_mutex_unlock(&whole->arguments);
    if (code)
        return penstock__opencl_error(plan->device, "clEnqueueNDRangeKernel", code);
    return job->out->wrapped ? penstock__opencl_show(slot, job->out) : PENSTOCK_OK;
}
