/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A first kernel on a device: compiled anew, run on the way that all kernels take, its values checked. */
#include "gpu/trial.h"
#include "backends/opencl/opencl.h"

struct trial {
    struct gpu_trial gpu;
    cl_program program;
    cl_kernel kernel;
    struct opencl_slot slot_priv;
    struct opencl_buffer buffer_priv;
    struct penstock_slot slot;
    struct penstock_buffer buffer;
};

static int compile(struct trial *trial, struct penstock_device *device)
{
    const struct opencl_device *self = device->priv;
    struct gpu_text source = {0};
    cl_int code = CL_SUCCESS;
    int status = penstock__gpu_trial_source(&source, &trial->gpu, device->context);
    if (!status)
        status = penstock__opencl_program(&trial->program, device, source.content);
    penstock__text_free(&source);
    if (status)
        return status;
    trial->kernel = self->api->CreateKernel(trial->program, "trial", &code);
    return code ? penstock__opencl_error(device, "clCreateKernel", code) : PENSTOCK_OK;
}

static int launch(struct trial *trial, struct penstock_device *device)
{
    const struct opencl_device *self = device->priv;
    size_t global = GPU_TRIAL_VALUES, local = GPU_TRIAL_GROUP;
    cl_int code = self->api->SetKernelArg(trial->kernel, 0, sizeof(cl_mem), &trial->buffer_priv.memory);
    if (code)
        return penstock__opencl_error(device, "clSetKernelArg", code);
    code =
        self->api->EnqueueNDRangeKernel(trial->slot_priv.queue, trial->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    return code ? penstock__opencl_error(device, "clEnqueueNDRangeKernel", code) : PENSTOCK_OK;
}

static int run(struct trial *trial, struct penstock_device *device)
{
    const struct penstock_backend *backend = device->backend;
    uint64_t number;
    int status;
    if (!(status = backend->upload(&trial->slot, &trial->buffer, trial->gpu.values, sizeof trial->gpu.values)) &&
        !(status = launch(trial, device)) &&
        !(status = backend->download(&trial->slot, trial->gpu.values, &trial->buffer, sizeof trial->gpu.values)) &&
        !(status = backend->mark(&trial->slot, &number)) && !(status = backend->wait(&trial->slot, number)))
        status = penstock__gpu_trial_check(&trial->gpu, device);
    return status;
}

static int run_with_memory(struct trial *trial, struct penstock_device *device)
{
    const struct penstock_backend *backend = device->backend;
    int status;
    trial->slot = (struct penstock_slot){.device = device, .priv = &trial->slot_priv};
    trial->buffer = (struct penstock_buffer){.device = device, .priv = &trial->buffer_priv};
    if ((status = backend->slot_init(&trial->slot)))
        return status;
    if (!(status = backend->buffer_alloc(&trial->buffer, sizeof trial->gpu.values))) {
        status = run(trial, device);
        backend->buffer_free(&trial->buffer);
    }
    backend->slot_free(&trial->slot);
    return status;
}

int penstock__opencl_trial(struct penstock_device *device, void (*tell)(const char *doing))
{
    const struct opencl_device *self = device->priv;
    struct trial trial = {.program = NULL};
    int status;
    tell("compiled a first kernel");
    if (!(status = compile(&trial, device))) {
        tell("ran a first kernel");
        status = run_with_memory(&trial, device);
    }
    if (trial.kernel)
        self->api->ReleaseKernel(trial.kernel);
    if (trial.program)
        self->api->ReleaseProgram(trial.program);
    return status;
}
