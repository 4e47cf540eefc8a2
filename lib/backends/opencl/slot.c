/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A slot is one in-order command queue; a mark is an event in it. */
#include "backends/opencl/opencl.h"

static const struct opencl_api *api_of(const struct penstock_slot *slot)
{
    return ((const struct opencl_device *)slot->device->priv)->api;
}

static cl_mem memory_of(const struct penstock_buffer *buffer)
{
    return ((const struct opencl_buffer *)buffer->priv)->memory;
}

int penstock__opencl_slot_init(struct penstock_slot *slot)
{
    struct opencl_slot *self = slot->priv;
    const struct opencl_device *device = slot->device->priv;
    cl_int code;
    self->queue = device->api->CreateCommandQueue(device->context, device->id, 0, &code);
    return code ? penstock__opencl_error(slot->device, "clCreateCommandQueue", code) : PENSTOCK_OK;
}

static int check_queue(const struct penstock_slot *slot, cl_command_queue queue, bool *timed)
{
    const struct opencl_device *device = slot->device->priv;
    cl_context context = NULL;
    cl_device_id id = NULL;
    cl_command_queue_properties properties = 0;
    cl_int code = device->api->GetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (!code)
        code = device->api->GetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    if (!code)
        code = device->api->GetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: that is no cl_command_queue: clGetCommandQueueInfo: %s",
                               slot->device->name, penstock__opencl_code_name(code));
    if (context != device->context || id != device->id)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "%s: the cl_command_queue is of another %s; penstock_device_share() before the device's "
                               "first use has it work in the caller's cl_context",
                               slot->device->name, id == device->id ? "cl_context" : "device");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: the cl_command_queue is out of order", slot->device->name);
    *timed = properties & CL_QUEUE_PROFILING_ENABLE;
    return PENSTOCK_OK;
}

int penstock__opencl_slot_adopt(struct penstock_slot *slot, uint64_t native)
{
    struct opencl_slot *self = slot->priv;
    cl_command_queue queue = (cl_command_queue)(uintptr_t)native;
    cl_int code;
    int status = check_queue(slot, queue, &self->timed);
    if (status)
        return status;
    if ((code = api_of(slot)->RetainCommandQueue(queue)))
        return penstock__opencl_error(slot->device, "clRetainCommandQueue", code);
    self->queue = queue;
    self->adopted = true;
    return PENSTOCK_OK;
}

uint64_t penstock__opencl_slot_native(const struct penstock_slot *slot)
{
    return (uintptr_t)((const struct opencl_slot *)slot->priv)->queue;
}

static void forget_event(struct penstock_slot *slot, cl_event *event)
{
    if (*event)
        api_of(slot)->ReleaseEvent(*event);
    *event = NULL;
}

void penstock__opencl_slot_free(struct penstock_slot *slot)
{
    struct opencl_slot *self = slot->priv;
    api_of(slot)->Finish(self->queue);
    for (unsigned i = 0; i < OPENCL_MARKS; i++)
        forget_event(slot, &self->events[i]);
    penstock__opencl_timing_free(slot);
    penstock__opencl_images_free(slot);
    penstock__gpu_plane_memory_free(&self->planes);
    for (unsigned i = 0; i < OPENCL_SCRATCHES; i++)
        if (self->scratch[i])
            api_of(slot)->ReleaseMemObject(self->scratch[i]);
    api_of(slot)->ReleaseCommandQueue(self->queue);
}

/* A memory that is released goes when the commands that use it are done. */
int penstock__opencl_reserve(struct penstock_slot *slot, unsigned index, size_t bytes)
{
    struct opencl_slot *self = slot->priv;
    const struct opencl_device *device = slot->device->priv;
    cl_int code;
    if (self->scratch_bytes[index] >= bytes)
        return PENSTOCK_OK;
    if (self->scratch[index])
        api_of(slot)->ReleaseMemObject(self->scratch[index]);
    self->scratch[index] = api_of(slot)->CreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    self->scratch_bytes[index] = code ? 0 : bytes;
    if (!code)
        return PENSTOCK_OK;
    self->scratch[index] = NULL;
    return penstock__opencl_error(slot->device, "clCreateBuffer", code);
}

int penstock__opencl_upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes)
{
    struct opencl_slot *self = slot->priv;
    cl_int code =
        api_of(slot)->EnqueueWriteBuffer(self->queue, memory_of(buffer), CL_FALSE, 0, bytes, host, 0, NULL, NULL);
    return code ? penstock__opencl_error(slot->device, "clEnqueueWriteBuffer", code) : PENSTOCK_OK;
}

int penstock__opencl_download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes)
{
    struct opencl_slot *self = slot->priv;
    cl_int code =
        api_of(slot)->EnqueueReadBuffer(self->queue, memory_of(buffer), CL_FALSE, 0, bytes, host, 0, NULL, NULL);
    return code ? penstock__opencl_error(slot->device, "clEnqueueReadBuffer", code) : PENSTOCK_OK;
}

/* Flushed at once: what is marked is meant to start now. */
int penstock__opencl_mark(struct penstock_slot *slot, uint64_t *number)
{
    struct opencl_slot *self = slot->priv;
    cl_event *event = &self->events[(self->marked + 1) % OPENCL_MARKS];
    cl_int code;
    forget_event(slot, event);
    if ((code = api_of(slot)->EnqueueMarkerWithWaitList(self->queue, 0, NULL, event)))
        return penstock__opencl_error(slot->device, "clEnqueueMarkerWithWaitList", code);
    if ((code = api_of(slot)->Flush(self->queue)))
        return penstock__opencl_error(slot->device, "clFlush", code);
    *number = ++self->marked;
    return PENSTOCK_OK;
}

int penstock__opencl_wait(struct penstock_slot *slot, uint64_t number)
{
    struct opencl_slot *self = slot->priv;
    uint64_t oldest = self->marked < OPENCL_MARKS ? 1 : self->marked - OPENCL_MARKS + 1;
    cl_event *event;
    cl_int code;
    if (number > self->marked)
        return penstock__error(PENSTOCK_ERR_STATE, "%s: mark %llu was never set", slot->device->name,
                               (unsigned long long)number);
    event = &self->events[(number > oldest ? number : oldest) % OPENCL_MARKS]; /* in order: a later one will do */
    if (!*event)
        return PENSTOCK_OK;
    if ((code = api_of(slot)->WaitForEvents(1, event)))
        return penstock__opencl_error(slot->device, "clWaitForEvents", code);
    forget_event(slot, event);
    return PENSTOCK_OK;
}

int penstock__opencl_flush(struct penstock_slot *slot)
{
    cl_int code = api_of(slot)->Flush(((const struct opencl_slot *)slot->priv)->queue);
    return code ? penstock__opencl_error(slot->device, "clFlush", code) : PENSTOCK_OK;
}

int penstock__opencl_follow(struct penstock_slot *slot, struct penstock_slot *before)
{
    const struct opencl_slot *self = slot->priv, *other = before->priv;
    cl_event done = NULL;
    cl_int code = api_of(slot)->EnqueueMarkerWithWaitList(other->queue, 0, NULL, &done);
    int status;
    if (code)
        return penstock__opencl_error(slot->device, "clEnqueueMarkerWithWaitList", code);
    if (!(status = penstock__opencl_flush(before)) &&
        (code = api_of(slot)->EnqueueMarkerWithWaitList(self->queue, 1, &done, NULL)))
        status = penstock__opencl_error(slot->device, "clEnqueueMarkerWithWaitList", code);
    api_of(slot)->ReleaseEvent(done);
    return status;
}
