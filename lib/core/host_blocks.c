/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory of the host that a device copies from and to by itself. Each context lists what it gave out. */
#include "core/context.h"
#include "core/devices.h"
#include "core/fork.h"

struct penstock__host_block {
    char *memory;
    size_t bytes;
    struct penstock_device *device; /* that gave it; NULL: ordinary memory */
    struct penstock__host_block *following;
};

static void free_memory(const struct penstock__host_block *block)
{
    if (block->device)
        block->device->backend->host_free(block->device, block->memory);
    else
        penstock__free(block->memory);
}

/* The device's, or ordinary memory where it has none to give. */
static int fill(struct penstock__host_block *block, struct penstock_device *device)
{
    void *memory = NULL;
    if (device && device->backend->host_alloc && !device->backend->host_alloc(device, &memory, block->bytes))
        block->device = device;
    else
        memory = penstock__alloc(block->bytes);
    block->memory = memory;
    return memory ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

int penstock__host_block_new(void **memory, penstock_context *context, struct penstock_device *device, size_t bytes)
{
    struct penstock__host_block *block = penstock__calloc(1, sizeof *block);
    *memory = NULL;
    if (!block)
        return PENSTOCK_ERR_MEMORY;
    block->bytes = bytes;
    if (fill(block, device)) {
        penstock__free(block);
        return PENSTOCK_ERR_MEMORY;
    }
    pthread_mutex_lock(&context->host_lock);
    block->following = context->host_blocks;
    context->host_blocks = block;
    pthread_mutex_unlock(&context->host_lock);
    *memory = block->memory;
    return PENSTOCK_OK;
}

int penstock_host_memory_new(void **memory, penstock_context *context, const char *device, size_t bytes)
{
    enum penstock_preference preference;
    struct penstock_device *found = NULL;
    const char *name;
    int status;
    if (!memory || !context || !bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_host_memory_new: no place, context or bytes");
    *memory = NULL;
    if ((status = penstock__device_parse(&preference, &name, device)))
        return status;
    if (preference != PENSTOCK_DEVICE_AUTO &&
        ((status = penstock__device_find(context, name, &found)) || (status = penstock__device_open(found)))) {
        if (preference == PENSTOCK_DEVICE_NAMED)
            return status;
        found = NULL;
    }
    return penstock__host_block_new(memory, context, found, bytes);
}

void penstock_host_memory_free(penstock_context *context, void *memory)
{
    struct penstock__host_block *block = NULL;
    if (!context || !memory)
        return;
    pthread_mutex_lock(&context->host_lock);
    for (struct penstock__host_block **link = &context->host_blocks; *link && !block; link = &(*link)->following)
        if ((*link)->memory == memory) {
            block = *link;
            *link = block->following;
            break;
        }
    pthread_mutex_unlock(&context->host_lock);
    if (block)
        free_memory(block);
    penstock__free(block);
}

bool penstock__host_reached(const struct penstock_device *device, const void *host, size_t bytes)
{
    penstock_context *context = device->context;
    uintptr_t first = (uintptr_t)host;
    bool reached = false;
    pthread_mutex_lock(&context->host_lock);
    for (const struct penstock__host_block *block = context->host_blocks; block && !reached; block = block->following)
        reached = block->device == device && first >= (uintptr_t)block->memory &&
                  first + bytes <= (uintptr_t)block->memory + block->bytes;
    pthread_mutex_unlock(&context->host_lock);
    return reached;
}

bool penstock__host_blocks_gone(penstock_context *context)
{
    bool gone = false;
    pthread_mutex_lock(&context->host_lock);
    for (const struct penstock__host_block *block = context->host_blocks; block && !gone; block = block->following)
        gone = block->device && penstock__device_gone(block->device);
    pthread_mutex_unlock(&context->host_lock);
    return gone;
}

void penstock__host_blocks_free(penstock_context *context)
{
    while (context->host_blocks)
        penstock_host_memory_free(context, context->host_blocks->memory);
}
