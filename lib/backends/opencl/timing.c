/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device's clock, and copies within its memory: what timing with the samples on the device needs. */
#include "backends/opencl/opencl.h"
#include "gpu/copy.h"

static const struct opencl_device *device_of(const struct penstock_slot *slot)
{
    return slot->device->priv;
}

static const struct opencl_api *api_of(const struct penstock_slot *slot)
{
    return device_of(slot)->api;
}

static cl_mem memory_of(const struct penstock_buffer *buffer)
{
    return ((const struct opencl_buffer *)buffer->priv)->memory;
}

void penstock__opencl_timing_free(struct penstock_slot *slot)
{
    struct opencl_slot *self = slot->priv;
    for (unsigned i = 0; i < PENSTOCK_STAMPS; i++) {
        if (self->stamps[i])
            api_of(slot)->ReleaseEvent(self->stamps[i]);
        self->stamps[i] = NULL;
    }
    if (self->copy)
        api_of(slot)->ReleaseKernel(self->copy);
    if (self->copier)
        api_of(slot)->ReleaseProgram(self->copier);
    self->copy = NULL;
    self->copier = NULL;
}

/* ---------------------------------------------------------------- copies ---------------------- */

static int build_copier(struct penstock_slot *slot)
{
    struct opencl_slot *self = slot->priv;
    struct gpu_text source = {0};
    cl_int code = CL_SUCCESS;
    int status = PENSTOCK_OK;
    if (self->copy)
        return PENSTOCK_OK;
    if (!self->copier) {
        status = penstock__gpu_copy_source(&source, slot->device->context);
        if (!status)
            status = penstock__opencl_program(&self->copier, slot->device, source.content);
        penstock__text_free(&source);
    }
    if (status)
        return status;
    self->copy = api_of(slot)->CreateKernel(self->copier, "copy", &code);
    return code ? penstock__opencl_error(slot->device, "clCreateKernel", code) : PENSTOCK_OK;
}

static cl_int launch(struct penstock_slot *slot, const struct penstock_device_copy *copy,
                     const struct gpu_copy_arguments *a)
{
    struct opencl_slot *self = slot->priv;
    cl_mem from = memory_of(copy->from), to = memory_of(copy->to);
    size_t local = GPU_COPY_GROUP, global = a->groups * local;
    const struct opencl_argument arguments[] = {{sizeof from, &from},
                                                {sizeof to, &to},
                                                {sizeof a->from_at, &a->from_at},
                                                {sizeof a->to_at, &a->to_at},
                                                {sizeof a->count, &a->count}};
    cl_int code =
        penstock__opencl_arguments(api_of(slot), self->copy, arguments, sizeof arguments / sizeof arguments[0]);
    return code ? code
                : api_of(slot)->EnqueueNDRangeKernel(self->queue, self->copy, 1, NULL, &global, &local, 0, NULL, NULL);
}

int penstock__opencl_device_copy(struct penstock_slot *slot, const struct penstock_device_copy *copy)
{
    const struct opencl_slot *self = slot->priv;
    struct gpu_copy_arguments arguments;
    cl_int code;
    int status;
    if (copy->way == PENSTOCK_COPY_OWN) {
        code = api_of(slot)->EnqueueCopyBuffer(self->queue, memory_of(copy->from), memory_of(copy->to), copy->from_at,
                                               copy->to_at, copy->bytes, 0, NULL, NULL);
        return code ? penstock__opencl_error(slot->device, "clEnqueueCopyBuffer", code) : PENSTOCK_OK;
    }
    if ((status = penstock__gpu_copy_arguments(&arguments, slot->device, copy)) || (status = build_copier(slot)))
        return status;
    code = launch(slot, copy, &arguments);
    return code ? penstock__opencl_error(slot->device, "clEnqueueNDRangeKernel", code) : PENSTOCK_OK;
}

/* ---------------------------------------------------------------- the clock ------------------- */

/* Another queue for the slot, one that notes times: those of ordinary slots are spared the cost. */
static int note_times(struct penstock_slot *slot)
{
    struct opencl_slot *self = slot->priv;
    const struct opencl_device *device = device_of(slot);
    cl_command_queue queue;
    cl_int code;
    if (self->timed)
        return PENSTOCK_OK;
    if (self->adopted)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s: the application's queue notes no times",
                               slot->device->name);
    if ((code = device->api->Finish(self->queue)))
        return penstock__opencl_error(slot->device, "clFinish", code);
    queue = device->api->CreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code)
        return penstock__opencl_error(slot->device, "clCreateCommandQueue", code);
    device->api->ReleaseCommandQueue(self->queue);
    self->queue = queue;
    self->timed = true;
    return PENSTOCK_OK;
}

int penstock__opencl_stamp(struct penstock_slot *slot, unsigned which)
{
    struct opencl_slot *self = slot->priv;
    cl_int code;
    int status = note_times(slot);
    if (status)
        return status;
    if (self->stamps[which])
        api_of(slot)->ReleaseEvent(self->stamps[which]);
    self->stamps[which] = NULL;
    code = api_of(slot)->EnqueueMarkerWithWaitList(self->queue, 0, NULL, &self->stamps[which]);
    return code ? penstock__opencl_error(slot->device, "clEnqueueMarkerWithWaitList", code) : PENSTOCK_OK;
}

int penstock__opencl_elapsed(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds)
{
    struct opencl_slot *self = slot->priv;
    const cl_event stamps[2] = {self->stamps[from], self->stamps[to]};
    cl_ulong times[2] = {0, 0};
    cl_int code;
    if (!stamps[0] || !stamps[1])
        return penstock__error(PENSTOCK_ERR_STATE, "%s: no time was noted", slot->device->name);
    if ((code = api_of(slot)->WaitForEvents(2, stamps)))
        return penstock__opencl_error(slot->device, "clWaitForEvents", code);
    for (unsigned i = 0; i < 2; i++)
        if ((code = api_of(slot)->GetEventProfilingInfo(stamps[i], CL_PROFILING_COMMAND_END, sizeof times[i], &times[i],
                                                        NULL)))
            return penstock__opencl_error(slot->device, "clGetEventProfilingInfo", code);
    *seconds = 1e-9 * (double)(times[1] - times[0]);
    return PENSTOCK_OK;
}
