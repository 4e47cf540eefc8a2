/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A slot is one stream, which waits for no other, and its staging memory; a mark is an event in the stream. */
#include "backends/cuda/cuda.h"

#define ASKING_BYTES ((size_t)16 << 10)

static const struct cuda_api *api_of(const struct penstock_slot *slot)
{
    return penstock__cuda_opened(slot->device)->api;
}

static void release(struct penstock_slot *slot)
{
    struct cuda_slot *self = slot->priv;
    penstock__cuda_timing_free(slot);
    penstock__gpu_plane_memory_free(&self->planes);
    for (unsigned i = 0; i < CUDA_MARKS; i++)
        if (self->events[i])
            api_of(slot)->EventDestroy(self->events[i]);
    for (unsigned i = 0; i < CUDA_SCRATCHES; i++)
        if (self->scratch[i])
            api_of(slot)->MemFree(self->scratch[i]);
    if (self->stream && !self->adopted)
        api_of(slot)->StreamDestroy(self->stream);
    penstock__cuda_staging_free(&self->staging, slot->device);
}

static int create_stream(struct penstock_slot *slot)
{
    struct cuda_slot *self = slot->priv;
    int status = penstock__cuda_check(slot->device, "cuStreamCreate",
                                      api_of(slot)->StreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
    if (status)
        self->stream = NULL;
    return status;
}

/* A stream of another context would reach none of ours: neither kernels nor events. */
static int check_stream(const struct penstock_slot *slot)
{
    const struct cuda_slot *self = slot->priv;
    CUcontext context = NULL;
    int status =
        penstock__cuda_check(slot->device, "cuStreamGetCtx", api_of(slot)->StreamGetCtx(self->stream, &context));
    if (!status && context != penstock__cuda_opened(slot->device)->context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "%s: the stream is of another context than the device's primary one",
                               slot->device->name);
    return status;
}

static int create(struct penstock_slot *slot)
{
    struct cuda_slot *self = slot->priv;
    int status = self->adopted ? check_stream(slot) : create_stream(slot);
    for (unsigned i = 0; i < CUDA_MARKS && !status; i++) {
        status = penstock__cuda_check(slot->device, "cuEventCreate",
                                      api_of(slot)->EventCreate(&self->events[i], CU_EVENT_DISABLE_TIMING));
        if (status)
            self->events[i] = NULL;
    }
    if (status)
        release(slot);
    return status;
}

int penstock__cuda_slot_init(struct penstock_slot *slot)
{
    int status = penstock__cuda_enter(slot->device);
    if (status)
        return status;
    status = create(slot);
    penstock__cuda_leave(slot->device);
    return status;
}

int penstock__cuda_slot_adopt(struct penstock_slot *slot, uint64_t native)
{
    struct cuda_slot *self = slot->priv;
    self->stream = (CUstream)(uintptr_t)native;
    self->adopted = true;
    return penstock__cuda_slot_init(slot);
}

uint64_t penstock__cuda_slot_native(const struct penstock_slot *slot)
{
    return (uintptr_t)((const struct cuda_slot *)slot->priv)->stream;
}

void penstock__cuda_slot_free(struct penstock_slot *slot)
{
    bool entered = !penstock__cuda_enter(slot->device);
    api_of(slot)->StreamSynchronize(((const struct cuda_slot *)slot->priv)->stream);
    release(slot);
    if (entered)
        penstock__cuda_leave(slot->device);
}

int penstock__cuda_reserve(struct penstock_slot *slot, unsigned index, size_t bytes)
{
    struct cuda_slot *self = slot->priv;
    int status = PENSTOCK_OK;
    if (self->scratch_bytes[index] >= bytes)
        return PENSTOCK_OK;
    if (self->scratch[index]) {
        status =
            penstock__cuda_check(slot->device, "cuStreamSynchronize", api_of(slot)->StreamSynchronize(self->stream));
        api_of(slot)->MemFree(self->scratch[index]);
    }
    self->scratch[index] = 0;
    self->scratch_bytes[index] = 0;
    if (status || (status = penstock__cuda_check(slot->device, "cuMemAlloc",
                                                 api_of(slot)->MemAlloc(&self->scratch[index], bytes)))) {
        self->scratch[index] = 0;
        return status;
    }
    self->scratch_bytes[index] = bytes;
    return PENSTOCK_OK;
}

static int copy_in(struct penstock_slot *slot, const struct penstock_buffer *buffer, const void *host, size_t bytes)
{
    return penstock__cuda_check(slot->device, "cuMemcpyHtoDAsync",
                                api_of(slot)->MemcpyHtoDAsync(penstock__cuda_memory(buffer), host, bytes,
                                                              ((const struct cuda_slot *)slot->priv)->stream));
}

static int copy_out(struct penstock_slot *slot, const struct penstock_buffer *buffer, void *host, size_t bytes)
{
    return penstock__cuda_check(slot->device, "cuMemcpyDtoHAsync",
                                api_of(slot)->MemcpyDtoHAsync(host, penstock__cuda_memory(buffer), bytes,
                                                              ((const struct cuda_slot *)slot->priv)->stream));
}

/* Whether the driver knows these bytes as one piece of page-locked memory, which the application has from it or has
 * registered with it. */
static bool is_page_locked(const struct penstock_device *device, const void *host, size_t bytes)
{
    unsigned type = 0;
    CUdeviceptr start = 0;
    size_t size = 0;
    int attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                        CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *values[] = {&type, &start, &size};
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)host;
    return !penstock__cuda_opened(device)->api->PointerGetAttributes(3, attributes, values, at) &&
           type == CU_MEMORYTYPE_HOST && at >= start && bytes <= size && at - start <= size - bytes;
}

/* A few bytes are copied sooner than the driver answers. */
static bool reached(const struct penstock_device *device, const void *host, size_t bytes)
{
    return penstock__host_reached(device, host, bytes) ||
           (bytes >= ASKING_BYTES && is_page_locked(device, host, bytes));
}

int penstock__cuda_upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes)
{
    struct cuda_slot *self = slot->priv;
    struct cuda_block *block;
    int status = penstock__cuda_enter(slot->device);
    if (status)
        return status;
    if (reached(slot->device, host, bytes)) {
        status = copy_in(slot, buffer, host, bytes);
    } else if (!(status = penstock__cuda_stage(&block, &self->staging, slot->device, bytes, self->marked + 1))) {
        penstock__copy_past_caches(slot->device->context, block->memory, host, bytes);
        status = copy_in(slot, buffer, block->memory, bytes);
    }
    penstock__cuda_leave(slot->device);
    return status;
}

int penstock__cuda_download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes)
{
    struct cuda_slot *self = slot->priv;
    struct cuda_block *block;
    int status = penstock__cuda_enter(slot->device);
    if (status)
        return status;
    if (reached(slot->device, host, bytes)) {
        status = copy_out(slot, buffer, host, bytes);
    } else if (!(status = penstock__cuda_stage(&block, &self->staging, slot->device, bytes, self->marked + 1))) {
        status = copy_out(slot, buffer, block->memory, bytes);
        block->host = status ? NULL : host;
    }
    penstock__cuda_leave(slot->device);
    return status;
}

int penstock__cuda_mark(struct penstock_slot *slot, uint64_t *number)
{
    struct cuda_slot *self = slot->priv;
    int status = penstock__cuda_enter(slot->device);
    if (status)
        return status;
    if (!(status = penstock__cuda_check(
              slot->device, "cuEventRecord",
              api_of(slot)->EventRecord(self->events[(self->marked + 1) % CUDA_MARKS], self->stream))))
        *number = ++self->marked;
    penstock__cuda_leave(slot->device);
    return status;
}

int penstock__cuda_wait(struct penstock_slot *slot, uint64_t number)
{
    struct cuda_slot *self = slot->priv;
    uint64_t oldest = self->marked < CUDA_MARKS ? 1 : self->marked - CUDA_MARKS + 1;
    int status;
    if (number > self->marked)
        return penstock__error(PENSTOCK_ERR_STATE, "%s: mark %llu was never set", slot->device->name,
                               (unsigned long long)number);
    if (number <= self->staging.done)
        return PENSTOCK_OK;
    if (number < oldest)
        number = oldest; /* its event serves a later mark now; in order: a later one will do */
    if ((status = penstock__cuda_enter(slot->device)))
        return status;
    status = penstock__cuda_check(slot->device, "cuEventSynchronize",
                                  api_of(slot)->EventSynchronize(self->events[number % CUDA_MARKS]));
    penstock__cuda_leave(slot->device);
    if (!status)
        penstock__cuda_unstage(&self->staging, slot->device, number);
    return status;
}

int penstock__cuda_follow(struct penstock_slot *slot, struct penstock_slot *before)
{
    const struct cuda_slot *self = slot->priv, *other = before->priv;
    uint64_t number;
    int status = penstock__cuda_mark(before, &number);
    if (status || (status = penstock__cuda_enter(slot->device)))
        return status;
    status = penstock__cuda_check(slot->device, "cuStreamWaitEvent",
                                  api_of(slot)->StreamWaitEvent(self->stream, other->events[number % CUDA_MARKS], 0));
    penstock__cuda_leave(slot->device);
    return status;
}
