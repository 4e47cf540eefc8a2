/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* NVIDIA GPUs in the driver's order, and their primary contexts. */
#include "backends/cuda/cuda.h"
#include "gpu/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0 where the driver does not know. */
static int attribute(const struct cuda_api *cuda, CUdevice id, int which)
{
    int value = 0;
    return cuda->DeviceGetAttribute(&value, which, id) ? 0 : value;
}

static void versions(char *text, size_t capacity, const struct cuda_api *cuda)
{
    snprintf(text, capacity, "CUDA %d.%d, NVRTC %d.%d", cuda->driver_version / 1000, cuda->driver_version % 1000 / 10,
             cuda->nvrtc_major, cuda->nvrtc_minor);
}

static void read_limits(struct cuda_device *self)
{
    const struct cuda_api *cuda = self->api;
    int usual = attribute(cuda, self->id, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    int most = attribute(cuda, self->id, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    self->limits.local_bytes = (size_t)(most > usual ? most : usual);
    self->limits.max_group = (unsigned)attribute(cuda, self->id, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    self->limits.units = (unsigned)attribute(cuda, self->id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    self->architecture = 10 * attribute(cuda, self->id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                         attribute(cuda, self->id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    self->limits.bounded = true;
    self->limits.half_arithmetic = self->architecture >= 53;
}

static void tell_profile(struct penstock_device *row, const struct cuda_api *cuda, CUdevice id)
{
    struct cuda_device self = {.api = cuda, .id = id};
    read_limits(&self);
    penstock__gpu_profile_limit(&self.limits, penstock__gpu_profile("NVIDIA"), 0);
    penstock__gpu_profile_text(row->profile, sizeof row->profile, penstock__gpu_profile("NVIDIA"), &self.limits,
                               attribute(cuda, id, CU_DEVICE_ATTRIBUTE_INTEGRATED), false);
}

static bool fill_row(struct penstock_device *row, const struct cuda_api *cuda, int index)
{
    CUdevice id;
    size_t bytes = 0;
    if (cuda->DeviceGet(&id, index) || cuda->DeviceGetName(row->product, sizeof row->product, id) ||
        cuda->DeviceTotalMem(&bytes, id))
        return false;
    versions(row->driver, sizeof row->driver, cuda);
    row->compute_units = (unsigned)attribute(cuda, id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    row->memory_bytes = bytes;
    tell_profile(row, cuda, id);
    snprintf(row->address, sizeof row->address, "%04x:%02x:%02x",
             (unsigned)attribute(cuda, id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
             (unsigned)attribute(cuda, id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
             (unsigned)attribute(cuda, id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
    return true;
}

int penstock__cuda_probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                         char reason[256])
{
    const struct cuda_api *cuda = penstock__cuda_api(reason);
    int present = 0;
    (void)context;
    *count = 0;
    if (!cuda)
        return PENSTOCK_OK;
    snprintf(reason, 256, "%s", "the NVIDIA driver lists no GPU");
    if (cuda->DeviceGetCount(&present))
        return PENSTOCK_OK;
    while (*count < (size_t)present && *count < capacity && fill_row(&rows[*count], cuda, (int)*count))
        ++*count;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- opening --------------------- */

/* Kernels compiled for compute capability 9.0 or later wait themselves. PENSTOCK_CUDA_EARLY=0 leaves it be. */
static bool launches_early(const struct penstock_device *device)
{
    const char *wanted = getenv("PENSTOCK_CUDA_EARLY");
    char option[40];
    return (!wanted || strcmp(wanted, "0")) && penstock__cuda_opened(device)->api->LaunchKernelEx &&
           !penstock__cuda_architecture(option, device) && atoi(strrchr(option, '_') + 1) >= 90;
}

int penstock__cuda_open(struct penstock_device *device)
{
    struct cuda_device *self = device->priv;
    char reason[256] = "", both[64];
    int status;
    if (!(self->api = penstock__cuda_api(reason)))
        return penstock__error(PENSTOCK_ERR_NO_DEVICE, "%s: %s", device->name, reason);
    if ((status = penstock__cuda_check(device, "cuDeviceGet", self->api->DeviceGet(&self->id, (int)device->index))))
        return status;
    read_limits(self);
    self->early = launches_early(device);
    versions(both, sizeof both, self->api);
    snprintf(self->identity, sizeof self->identity, "%s|%d|%s", device->product, self->architecture, both);
    return penstock__cuda_check(device, "cuDevicePrimaryCtxRetain",
                                self->api->DevicePrimaryCtxRetain(&self->context, self->id));
}

void penstock__cuda_close(struct penstock_device *device)
{
    const struct cuda_device *self = device->priv;
    self->api->DevicePrimaryCtxRelease(self->id);
}

/* ---------------------------------------------------------------- the current context --------- */

/* Whether each enter that no leave has answered has pushed a context, the last one in the lowest bit. */
static _Thread_local uint64_t pushed;

int penstock__cuda_enter(const struct penstock_device *device)
{
    const struct cuda_device *self = device->priv;
    CUcontext current = NULL;
    bool pushes = self->api->CtxGetCurrent(&current) || current != self->context;
    int status = pushes ? penstock__cuda_check(device, "cuCtxPushCurrent", self->api->CtxPushCurrent(self->context))
                        : PENSTOCK_OK;
    if (!status)
        pushed = pushed << 1 | pushes;
    return status;
}

/* Fails only where the context is gone, which the next enter says. */
void penstock__cuda_leave(const struct penstock_device *device)
{
    CUcontext context;
    if (pushed & 1)
        penstock__cuda_opened(device)->api->CtxPopCurrent(&context);
    pushed >>= 1;
}
