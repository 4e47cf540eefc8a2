/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The CUDA backend: NVIDIA GPUs through the driver API, by kernels that NVRTC compiles for each plan. */
#include "backends/cuda/cuda.h"
#include "gpu/tuning.h"

static int host_alloc(struct penstock_device *device, void **memory, size_t bytes)
{
    int status = penstock__cuda_enter(device);
    if (status)
        return status;
    status =
        penstock__cuda_check(device, "cuMemHostAlloc",
                             penstock__cuda_opened(device)->api->MemHostAlloc(memory, bytes, CU_MEMHOSTALLOC_PORTABLE));
    penstock__cuda_leave(device);
    return status;
}

static void host_free(struct penstock_device *device, void *memory)
{
    bool entered = !penstock__cuda_enter(device);
    penstock__cuda_opened(device)->api->MemFreeHost(memory);
    if (entered)
        penstock__cuda_leave(device);
}

static int host_lock(struct penstock_device *device, void *memory, size_t bytes)
{
    int status = penstock__cuda_enter(device);
    if (status)
        return status;
    status = penstock__cuda_check(
        device, "cuMemHostRegister",
        penstock__cuda_opened(device)->api->MemHostRegister(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE));
    penstock__cuda_leave(device);
    return status;
}

static void host_unlock(struct penstock_device *device, void *memory)
{
    bool entered = !penstock__cuda_enter(device);
    penstock__cuda_opened(device)->api->MemHostUnregister(memory);
    if (entered)
        penstock__cuda_leave(device);
}

/* Before the same GPU through OpenCL. */
static int supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    int status = penstock__gpu_route_check(problem, device, &penstock__cuda_opened(device)->limits);
    return status ? status : 3;
}

static int launch_configs(struct penstock_launch_configs *list, const struct penstock_device *device,
                          const struct penstock_problem *problem)
{
    return penstock__gpu_launch_configs(list, device, problem, &penstock__cuda_opened(device)->limits,
                                        penstock__cuda_opened(device)->identity);
}

const struct penstock_backend penstock__cuda_backend = {
    .abi = PENSTOCK_BACKEND_ABI,
    .folds = true,
    .name = "cuda",
    .licence = "MIT",
    .flags = PENSTOCK_BACKEND_FRAGILE_DRIVER | PENSTOCK_BACKEND_FUSED | PENSTOCK_BACKEND_PLANES |
             PENSTOCK_BACKEND_OPTIONS | PENSTOCK_BACKEND_NATIVE | PENSTOCK_BACKEND_FEC | PENSTOCK_BACKEND_LDPC |
             PENSTOCK_BACKEND_RESAMPLE | PENSTOCK_BACKEND_CODED | PENSTOCK_BACKEND_ADDRESSES |
             PENSTOCK_BACKEND_PORTABLE,
    .device_bytes = sizeof(struct cuda_device),
    .buffer_bytes = sizeof(struct cuda_buffer),
    .slot_bytes = sizeof(struct cuda_slot),
    .plan_bytes = sizeof(struct cuda_plan),
    .probe = penstock__cuda_probe,
    .driver_key = penstock__cuda_driver_key,
    .open = penstock__cuda_open,
    .close = penstock__cuda_close,
    .buffer_alloc = penstock__cuda_buffer_alloc,
    .buffer_free = penstock__cuda_buffer_free,
    .buffer_adopt = penstock__cuda_buffer_adopt,
    .buffer_native = penstock__cuda_buffer_native,
    .buffer_part = penstock__cuda_buffer_part,
    .supports = supports,
    .plan_init = penstock__cuda_plan_init,
    .plan_free = penstock__gpu_plan_free,
    .launch_configs = launch_configs,
    .slot_init = penstock__cuda_slot_init,
    .slot_free = penstock__cuda_slot_free,
    .slot_adopt = penstock__cuda_slot_adopt,
    .slot_native = penstock__cuda_slot_native,
    .follow = penstock__cuda_follow,
    .upload = penstock__cuda_upload,
    .enqueue = penstock__gpu_enqueue,
    .download = penstock__cuda_download,
    .mark = penstock__cuda_mark,
    .wait = penstock__cuda_wait,
    .copy = penstock__cuda_device_copy,
    .stamp = penstock__cuda_stamp,
    .elapsed = penstock__cuda_elapsed,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .host_lock = host_lock,
    .host_unlock = host_unlock,
};
