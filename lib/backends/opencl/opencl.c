/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The OpenCL backend: any device of any platform, by kernels that are compiled for each plan. */
#include "backends/opencl/opencl.h"
#include "gpu/tuning.h"

static const struct opencl_device *opened(const struct penstock_device *device)
{
    return device->priv;
}

/* A GPU before a CPU. */
static int supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    int status = penstock__gpu_route_check(problem, device, &opened(device)->limits);
    return status ? status : opened(device)->is_gpu ? 2 : 1;
}

static int launch_configs(struct penstock_launch_configs *list, const struct penstock_device *device,
                          const struct penstock_problem *problem)
{
    return penstock__gpu_launch_configs(list, device, problem, &opened(device)->limits, opened(device)->identity);
}

const struct penstock_backend penstock__opencl_backend = {
    .abi = PENSTOCK_BACKEND_ABI,
    .folds = true,
    .name = "opencl",
    .licence = "MIT",
    .flags = PENSTOCK_BACKEND_FRAGILE_DRIVER | PENSTOCK_BACKEND_FUSED | PENSTOCK_BACKEND_PLANES |
             PENSTOCK_BACKEND_OPTIONS | PENSTOCK_BACKEND_FEC | PENSTOCK_BACKEND_LDPC | PENSTOCK_BACKEND_RESAMPLE |
             PENSTOCK_BACKEND_CODED | PENSTOCK_BACKEND_SHARES,
    .device_bytes = sizeof(struct opencl_device),
    .buffer_bytes = sizeof(struct opencl_buffer),
    .slot_bytes = sizeof(struct opencl_slot),
    .plan_bytes = sizeof(struct opencl_plan),
    .probe = penstock__opencl_probe,
    .driver_key = penstock__opencl_driver_key,
    .open = penstock__opencl_open,
    .close = penstock__opencl_close,
    .trial = penstock__opencl_trial,
    .buffer_alloc = penstock__opencl_buffer_alloc,
    .buffer_wrap = penstock__opencl_buffer_wrap,
    .buffer_free = penstock__opencl_buffer_free,
    .buffer_adopt = penstock__opencl_buffer_adopt,
    .buffer_native = penstock__opencl_buffer_native,
    .buffer_part = penstock__opencl_buffer_part,
    .supports = supports,
    .plan_init = penstock__opencl_plan_init,
    .plan_free = penstock__gpu_plan_free,
    .launch_configs = launch_configs,
    .slot_init = penstock__opencl_slot_init,
    .slot_free = penstock__opencl_slot_free,
    .slot_adopt = penstock__opencl_slot_adopt,
    .slot_native = penstock__opencl_slot_native,
    .follow = penstock__opencl_follow,
    .flush = penstock__opencl_flush,
    .upload = penstock__opencl_upload,
    .enqueue = penstock__gpu_enqueue,
    .download = penstock__opencl_download,
    .mark = penstock__opencl_mark,
    .wait = penstock__opencl_wait,
    .copy = penstock__opencl_device_copy,
    .stamp = penstock__opencl_stamp,
    .elapsed = penstock__opencl_elapsed,
};
