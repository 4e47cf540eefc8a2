/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device's clock, and copies within its memory: what timing with the samples on the device needs. */
#include "backends/cuda/cuda.h"
#include "gpu/copy.h"

static const struct cuda_api *api_of(const struct penstock_slot *slot)
{
    return penstock__cuda_opened(slot->device)->api;
}

void penstock__cuda_timing_free(struct penstock_slot *slot)
{
    struct cuda_slot *self = slot->priv;
    for (unsigned i = 0; i < PENSTOCK_STAMPS; i++) {
        if (self->stamps[i])
            api_of(slot)->EventDestroy(self->stamps[i]);
        self->stamps[i] = NULL;
    }
    if (self->copier)
        api_of(slot)->ModuleUnload(self->copier);
    self->copier = NULL;
    self->copy = NULL;
}

/* ---------------------------------------------------------------- copies ---------------------- */

static int build_copier(struct penstock_slot *slot)
{
    struct cuda_slot *self = slot->priv;
    struct gpu_text source = {0};
    int status = PENSTOCK_OK;
    if (self->copy)
        return PENSTOCK_OK;
    if (!self->copier) {
        status = penstock__gpu_copy_source(&source, slot->device->context);
        if (!status)
            status = penstock__cuda_program(&self->copier, slot->device, source.content);
        penstock__text_free(&source);
    }
    return status ? status : penstock__cuda_function(&self->copy, slot->device, self->copier, "copy", 0);
}

static int copy_by_kernel(struct penstock_slot *slot, const struct penstock_device_copy *copy)
{
    struct cuda_slot *self = slot->priv;
    struct gpu_copy_arguments a;
    int status;
    if ((status = penstock__gpu_copy_arguments(&a, slot->device, copy)) || (status = build_copier(slot)))
        return status;
    CUdeviceptr from = penstock__cuda_memory(copy->from), to = penstock__cuda_memory(copy->to);
    void *arguments[] = {&from, &to, &a.from_at, &a.to_at, &a.count};
    return penstock__cuda_launch(slot->device, self->copy, &(struct cuda_grid){a.groups, GPU_COPY_GROUP, 1, 0},
                                 self->stream, arguments);
}

int penstock__cuda_device_copy(struct penstock_slot *slot, const struct penstock_device_copy *copy)
{
    struct cuda_slot *self = slot->priv;
    int status = penstock__cuda_enter(slot->device);
    if (status)
        return status;
    if (copy->way == PENSTOCK_COPY_KERNEL)
        status = copy_by_kernel(slot, copy);
    else
        status = penstock__cuda_check(slot->device, "cuMemcpyDtoDAsync",
                                      api_of(slot)->MemcpyDtoDAsync(penstock__cuda_memory(copy->to) + copy->to_at,
                                                                    penstock__cuda_memory(copy->from) + copy->from_at,
                                                                    copy->bytes, self->stream));
    penstock__cuda_leave(slot->device);
    return status;
}

/* ---------------------------------------------------------------- the clock ------------------- */

static int note_time(struct penstock_slot *slot, unsigned which)
{
    struct cuda_slot *self = slot->priv;
    int status = PENSTOCK_OK;
    if (!self->stamps[which] &&
        (status = penstock__cuda_check(slot->device, "cuEventCreate",
                                       api_of(slot)->EventCreate(&self->stamps[which], CU_EVENT_DEFAULT)))) {
        self->stamps[which] = NULL;
        return status;
    }
    status = penstock__cuda_check(slot->device, "cuEventRecord",
                                  api_of(slot)->EventRecord(self->stamps[which], self->stream));
    self->stamped[which] = !status;
    return status;
}

int penstock__cuda_stamp(struct penstock_slot *slot, unsigned which)
{
    int status = penstock__cuda_enter(slot->device);
    if (status)
        return status;
    status = note_time(slot, which);
    penstock__cuda_leave(slot->device);
    return status;
}

int penstock__cuda_elapsed(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds)
{
    struct cuda_slot *self = slot->priv;
    float milliseconds = 0;
    int status;
    if (!self->stamped[from] || !self->stamped[to])
        return penstock__error(PENSTOCK_ERR_STATE, "%s: no time was noted", slot->device->name);
    if ((status = penstock__cuda_enter(slot->device)))
        return status;
    status = penstock__cuda_check(slot->device, "cuEventSynchronize", api_of(slot)->EventSynchronize(self->stamps[to]));
    if (!status)
        status =
            penstock__cuda_check(slot->device, "cuEventElapsedTime",
                                 api_of(slot)->EventElapsedTime(&milliseconds, self->stamps[from], self->stamps[to]));
    penstock__cuda_leave(slot->device);
    *seconds = 1e-3 * (double)milliseconds;
    return status;
}
