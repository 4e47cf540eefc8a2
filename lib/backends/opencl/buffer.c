/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory objects: the library's, the host's or the application's, or a part of either. */
#include "backends/opencl/opencl.h"

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
int penstock__opencl_buffer_alloc(struct penstock_buffer *buffer, size_t bytes)
{
    struct opencl_buffer *self = buffer->priv;
    const struct opencl_device *device = opened(buffer->device);
    cl_mem_flags flags = CL_MEM_READ_WRITE | (device->is_gpu && !device->shares_memory ? 0 : CL_MEM_ALLOC_HOST_PTR);
    cl_int code;
    int status = check_size(buffer, bytes);
    if (status)
        return status;
    self->memory = device->api->CreateBuffer(device->context, flags, bytes, NULL, &code);
    return code ? penstock__opencl_error(buffer->device, "clCreateBuffer", code) : PENSTOCK_OK;
}

/* The caller's memory, for a device that is the host's processor, or a GPU that shares its memory. */
int penstock__opencl_buffer_wrap(struct penstock_buffer *buffer, void *host, size_t bytes)
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

void penstock__opencl_buffer_free(struct penstock_buffer *buffer)
{
    struct opencl_buffer *self = buffer->priv;
    opened(buffer->device)->api->ReleaseMemObject(self->memory);
}

/* ---------------------------------------------------------------- the application's ----------- */

static int check_object(const struct penstock_buffer *buffer, cl_mem memory)
{
    const struct opencl_device *device = opened(buffer->device);
    cl_context context = NULL;
    size_t bytes = 0;
    cl_int code = device->api->GetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (!code)
        code = device->api->GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    if (code)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: that is no cl_mem: clGetMemObjectInfo: %s",
                               buffer->device->name, penstock__opencl_code_name(code));
    if (context != device->context)
        return penstock__error(
            PENSTOCK_ERR_ARGUMENT,
            "%s: the cl_mem is of another cl_context than the device; penstock_device_share() before "
            "its first use has it work in the caller's",
            buffer->device->name);
    if (bytes < buffer->bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: the cl_mem has %zu bytes, not %zu", buffer->device->name,
                               bytes, buffer->bytes);
    return PENSTOCK_OK;
}

int penstock__opencl_buffer_adopt(struct penstock_buffer *buffer, uint64_t native)
{
    struct opencl_buffer *self = buffer->priv;
    const struct opencl_api *cl = opened(buffer->device)->api;
    cl_mem memory = (cl_mem)(uintptr_t)native;
    cl_int code;
    int status = check_object(buffer, memory);
    if (status)
        return status;
    code = cl->GetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof self->whole, &self->whole, NULL);
    if (!code)
        code = cl->GetMemObjectInfo(memory, CL_MEM_OFFSET, sizeof self->at, &self->at, NULL);
    if (code)
        return penstock__opencl_error(buffer->device, "clGetMemObjectInfo", code);
    if ((code = cl->RetainMemObject(memory))) /* which keeps the whole */
        return penstock__opencl_error(buffer->device, "clRetainMemObject", code);
    self->memory = memory;
    return PENSTOCK_OK;
}

uint64_t penstock__opencl_buffer_native(const struct penstock_buffer *buffer)
{
    return (uintptr_t)((const struct opencl_buffer *)buffer->priv)->memory;
}

int penstock__opencl_buffer_part(struct penstock_buffer *buffer, const struct penstock_buffer *of, size_t at)
{
    struct opencl_buffer *self = buffer->priv;
    const struct opencl_buffer *other = of->priv;
    const cl_buffer_region region = {.origin = other->at + at, .size = buffer->bytes};
    cl_int code;
    self->memory = opened(buffer->device)
                       ->api->CreateSubBuffer(other->whole ? other->whole : other->memory, 0,
                                              CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    return code ? penstock__opencl_error(buffer->device, "clCreateSubBuffer", code) : PENSTOCK_OK;
}

/* ---------------------------------------------------------------- the host's view ------------- */

/*
 * Mapped in its turn and given back behind that, so that nobody waits. rusticl of Mesa 22 refuses to take back
 * (CL_INVALID_VALUE) what its queue has not mapped yet: there the mapping is waited for.
 */
int penstock__opencl_show(struct penstock_slot *slot, const struct penstock_buffer *buffer)
{
    const struct opencl_api *cl = opened(slot->device)->api;
    cl_command_queue queue = ((const struct opencl_slot *)slot->priv)->queue;
    cl_mem memory = ((const struct opencl_buffer *)buffer->priv)->memory;
    cl_event mapped = NULL;
    cl_int code;
    void *host = cl->EnqueueMapBuffer(queue, memory, CL_FALSE, CL_MAP_READ, 0, buffer->bytes, 0, NULL, &mapped, &code);
    if (code)
        return penstock__opencl_error(slot->device, "clEnqueueMapBuffer", code);
    code = cl->EnqueueUnmapMemObject(queue, memory, host, 0, NULL, NULL);
    if (code == CL_INVALID_VALUE && !(code = cl->WaitForEvents(1, &mapped)))
        code = cl->EnqueueUnmapMemObject(queue, memory, host, 0, NULL, NULL);
    cl->ReleaseEvent(mapped);
    return code ? penstock__opencl_error(slot->device, "clEnqueueUnmapMemObject", code) : PENSTOCK_OK;
}
