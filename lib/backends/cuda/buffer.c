/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory of the device: the driver's, the application's, or a part of either. */
#include "backends/cuda/cuda.h"

static const struct cuda_api *api_of(const struct penstock_buffer *buffer)
{
    return penstock__cuda_opened(buffer->device)->api;
}

int penstock__cuda_buffer_alloc(struct penstock_buffer *buffer, size_t bytes)
{
    struct cuda_buffer *self = buffer->priv;
    int status = penstock__cuda_enter(buffer->device);
    if (status)
        return status;
    status = penstock__cuda_check(buffer->device, "cuMemAlloc", api_of(buffer)->MemAlloc(&self->memory, bytes));
    penstock__cuda_leave(buffer->device);
    return status;
}

void penstock__cuda_buffer_free(struct penstock_buffer *buffer)
{
    const struct cuda_buffer *self = buffer->priv;
    if (self->kept)
        return;
    bool entered = !penstock__cuda_enter(buffer->device);
    api_of(buffer)->MemFree(self->memory);
    if (entered)
        penstock__cuda_leave(buffer->device);
}

/* ---------------------------------------------------------------- the application's ----------- */

/* Both ends are asked for, and not the size of the allocation: what is mapped piece by piece is one to its user, and
 * several to the driver. */
static int check_place(const struct penstock_buffer *buffer, CUdeviceptr place, size_t offset)
{
    const struct penstock_device *device = buffer->device;
    unsigned type = 0;
    int ordinal = -1;
    int attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&type, &ordinal};
    int status = penstock__cuda_check(device, "cuPointerGetAttributes",
                                      api_of(buffer)->PointerGetAttributes(2, attributes, values, place + offset));
    if (status)
        return status;
    if (type != CU_MEMORYTYPE_DEVICE)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: at %#llx + %zu there is no memory of a GPU", device->name,
                               place, offset);
    if (ordinal != (int)device->index)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: the memory at %#llx is that of cuda:%d", device->name, place,
                               ordinal);
    return PENSTOCK_OK;
}

int penstock__cuda_buffer_adopt(struct penstock_buffer *buffer, uint64_t native)
{
    int status = penstock__cuda_enter(buffer->device);
    if (status)
        return status;
    if (!(status = check_place(buffer, native, 0)))
        status = check_place(buffer, native, buffer->bytes - 1);
    penstock__cuda_leave(buffer->device);
    *(struct cuda_buffer *)buffer->priv = (struct cuda_buffer){.memory = native, .kept = true};
    return status;
}

uint64_t penstock__cuda_buffer_native(const struct penstock_buffer *buffer)
{
    return penstock__cuda_memory(buffer);
}

int penstock__cuda_buffer_part(struct penstock_buffer *buffer, const struct penstock_buffer *of, size_t at)
{
    *(struct cuda_buffer *)buffer->priv = (struct cuda_buffer){.memory = penstock__cuda_memory(of) + at, .kept = true};
    return PENSTOCK_OK;
}
