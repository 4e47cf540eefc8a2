/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The OpenCL backend: any device of any platform, by kernels that are compiled for each plan. */
#include "backends/opencl/opencl.h"
#include "gpu/tuning.h"

static const struct opencl_device *opened(const struct penstock_device *device)
{
    return device->priv;
}

static int check_size(const struct penstock_buffer *buffer, size_t bytes)
{
    const struct opencl_device *device = opened(buffer->device);
    if (bytes <= device->max_buffer_bytes)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_DEVICE, "%s: a buffer of %zu bytes is larger than its limit of %llu",
                           buffer->device->name, bytes, (unsigned long long)device->max_buffer_bytes);
}

/* In memory that the host can reach too, where the hardware has one: copies are then plain ones. */
static int buffer_alloc(struct penstock_buffer *buffer, size_t bytes)
{
    struct opencl_buffer *self = buffer->priv;
    const struct opencl_device *device = opened(buffer->device);
    cl_mem_flags flags = CL_MEM_READ_WRITE | (device->is_gpu ? 0 : CL_MEM_ALLOC_HOST_PTR);
    cl_int code;
    int status = check_size(buffer, bytes);
    if (status)
        return status;
    self->memory = device->api->CreateBuffer(device->context, flags, bytes, NULL, &code);
    return code ? penstock__opencl_error(buffer->device, "clCreateBuffer", code) : PENSTOCK_OK;
}

/* The caller's memory, for a device that is the host's processor. */
static int buffer_wrap(struct penstock_buffer *buffer, void *host, size_t bytes)
{
    struct opencl_buffer *self = buffer->priv;
    const struct opencl_device *device = opened(buffer->device);
    cl_int code;
    int status = check_size(buffer, bytes);
    if (status)
        return status;
    self->memory =
        device->api->CreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host, &code);
    return code ? penstock__opencl_error(buffer->device, "clCreateBuffer", code) : PENSTOCK_OK;
}

static void buffer_free(struct penstock_buffer *buffer)
{
    struct opencl_buffer *self = buffer->priv;
    opened(buffer->device)->api->ReleaseMemObject(self->memory);
}

/* A GPU before a CPU. */
static int supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    int status = problem->kind == PENSTOCK_PROBLEM_VITERBI ? PENSTOCK_OK
                 : problem->kind != PENSTOCK_PROBLEM_FFT
                     ? penstock__fused_check(problem, device->name)
                     : penstock__gpu_supports(&problem->fft, &opened(device)->limits);
    return status ? status : opened(device)->is_gpu ? 2 : 1;
}

static int shapes(struct penstock_shapes *list, const struct penstock_device *device,
                  const struct penstock_problem *problem)
{
    return penstock__gpu_shapes(list, device, problem, &opened(device)->limits, opened(device)->identity);
}

const struct penstock_backend penstock__opencl_backend = {
    .abi = PENSTOCK_BACKEND_ABI,
    .folds = true,
    .name = "opencl",
    .licence = "MIT",
    .flags = PENSTOCK_BACKEND_FRAGILE_DRIVER | PENSTOCK_BACKEND_FUSED | PENSTOCK_BACKEND_PLANES |
             PENSTOCK_BACKEND_OPTIONS | PENSTOCK_BACKEND_FEC | PENSTOCK_BACKEND_LDPC,
    .device_bytes = sizeof(struct opencl_device),
    .buffer_bytes = sizeof(struct opencl_buffer),
    .slot_bytes = sizeof(struct opencl_slot),
    .plan_bytes = sizeof(struct opencl_plan),
    .probe = penstock__opencl_probe,
    .driver_key = penstock__opencl_driver_key,
    .open = penstock__opencl_open,
    .close = penstock__opencl_close,
    .trial = penstock__opencl_trial,
    .buffer_alloc = buffer_alloc,
    .buffer_wrap = buffer_wrap,
    .buffer_free = buffer_free,
    .supports = supports,
    .plan_init = penstock__opencl_plan_init,
    .plan_free = penstock__opencl_plan_free,
    .shapes = shapes,
    .slot_init = penstock__opencl_slot_init,
    .slot_free = penstock__opencl_slot_free,
    .upload = penstock__opencl_upload,
    .enqueue = penstock__opencl_enqueue,
    .download = penstock__opencl_download,
    .mark = penstock__opencl_mark,
    .wait = penstock__opencl_wait,
    .copy = penstock__opencl_device_copy,
    .stamp = penstock__opencl_stamp,
    .elapsed = penstock__opencl_elapsed,
};
