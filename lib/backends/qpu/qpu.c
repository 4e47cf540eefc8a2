/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The tables of `qpu` and `qpu:emulator`: buffers in ordinary memory, work done within enqueue. */
#include "backends/qpu/qpu.h"

#include <stdio.h>

struct qpu_platform (*penstock__qpu_platform)(void) = qpu_platform_pi;

/* Rules of the hardware are not checked again: the kernels' tests do that. */
static struct qpu_platform emulated_board(struct qpu_emulated_report *report)
{
    struct qpu_emulated_options options = {.model = "VideoCore IV, emulated", .report = report};
    return qpu_platform_emulated(&options);
}

static int probe_platform(struct qpu_platform platform, struct penstock_device *rows, size_t capacity, size_t *count,
                          char reason[256])
{
    struct qpu_device *device;
    *count = 0;
    if (!capacity) {
        platform.calls->close(platform.self);
        return PENSTOCK_OK;
    }
    if (qpu_device_open(&device, platform, reason) != QPU_HOST_OK)
        return PENSTOCK_OK;
    snprintf(rows->product, sizeof rows->product, "%s", qpu_device_model(device));
    snprintf(rows->driver, sizeof rows->driver, "%s, V3D at %u MHz", platform.calls->name,
             qpu_device_clock_hz(device) / 1000000);
    rows->compute_units = qpu_device_qpus(device);
    qpu_device_close(device);
    *count = 1;
    return PENSTOCK_OK;
}

static int probe_board(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                       char reason[256])
{
    (void)context;
    return probe_platform(penstock__qpu_platform(), rows, capacity, count, reason);
}

static int probe_emulator(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                          char reason[256])
{
    (void)context;
    return probe_platform(emulated_board(NULL), rows, capacity, count, reason);
}

static int open_platform(struct penstock_device *device, struct qpu_platform platform)
{
    struct qpu_state *state = device->priv;
    char reason[QPU_REASON];
    if (qpu_device_open(&state->device, platform, reason) != QPU_HOST_OK)
        return penstock__error(PENSTOCK_ERR_DEVICE, "%s: %s", device->name, reason);
    pthread_mutex_init(&state->lock, NULL);
    return PENSTOCK_OK;
}

static int open_board(struct penstock_device *device)
{
    return open_platform(device, penstock__qpu_platform());
}

static int open_emulator(struct penstock_device *device)
{
    return open_platform(device, emulated_board(&((struct qpu_state *)device->priv)->report));
}

static void close_device(struct penstock_device *device)
{
    struct qpu_state *state = device->priv;
    qpu_device_close(state->device);
    pthread_mutex_destroy(&state->lock);
}

/* The QPUs truncate: relative rms of 0.49 ppm (log2 n / 8)^1.4 for noise is at most 4.4 times the usual bound, at 2^22
 * points. */
#define FUNCTIONS                                                                                                   \
    .abi = PENSTOCK_BACKEND_ABI, .licence = "MIT", .single = true, .error_factor = 4.4,                             \
    .device_bytes = sizeof(struct qpu_state), .slot_bytes = sizeof(struct penstock_host_slot),                      \
    .plan_bytes = sizeof(struct qpu_plan), .close = close_device, .buffer_alloc = penstock__host_buffer_alloc,      \
    .buffer_wrap = penstock__host_buffer_wrap, .buffer_free = penstock__host_buffer_free,                           \
    .supports = penstock__qpu_supports, .plan_init = penstock__qpu_plan_init, .plan_free = penstock__qpu_plan_free, \
    .slot_init = penstock__host_slot_init, .slot_free = penstock__host_slot_free, .upload = penstock__host_upload,  \
    .enqueue = penstock__qpu_enqueue, .work = penstock__qpu_work, .download = penstock__host_download,              \
    .mark = penstock__host_mark, .wait = penstock__host_wait

const struct penstock_backend penstock__qpu_backend = {
    .name = "qpu",
    .folds = true,
    .flags = PENSTOCK_BACKEND_HOST_MEMORY | PENSTOCK_BACKEND_FUSED,
    .probe = probe_board,
    .open = open_board,
    FUNCTIONS,
};

const struct penstock_backend penstock__qpu_emulator_backend = {
    .name = "qpu:emulator",
    .folds = true,
    .flags = PENSTOCK_BACKEND_HOST_MEMORY | PENSTOCK_BACKEND_FUSED | PENSTOCK_BACKEND_NOT_AUTOMATIC,
    .probe = probe_emulator,
    .open = open_emulator,
    FUNCTIONS,
};
