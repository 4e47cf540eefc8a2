/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory of the host that a device copies from and to by itself. Each context lists what it gave out. */
#include "core/base/context.h"
#include "core/base/fork.h"
#include "core/device/device_group.h"
#include "core/device/devices.h"

struct penstock__host_block {
    char *memory;
    size_t bytes;
    bool kept;                      /* by the application: it was locked */
    struct penstock_device *device; /* that gave it, or locked it; NULL: ordinary memory */
    struct penstock__host_block *following;
};

static void free_memory(const struct penstock__host_block *block)
{
    if (block->device && block->kept)
        block->device->backend->host_unlock(block->device, block->memory);
    else if (block->device)
        block->device->backend->host_free(block->device, block->memory);
    else if (!block->kept)
        penstock__free(block->memory);
}

/* Of the first of several devices that gives any: where that is page-locked, all of them reach it. */
static struct penstock_device *give(void **memory, struct penstock_device *device, size_t bytes)
{
    struct penstock_device *member;
    for (size_t i = 0; (member = penstock__device_member(device, i)); i++)
        if (member->backend->host_alloc && !member->backend->host_alloc(member, memory, bytes))
            return member;
    return NULL;
}

/* The device's, or ordinary memory where it has none to give. */
static int fill(struct penstock__host_block *block, struct penstock_device *device)
{
    void *memory = NULL;
    if (!(block->device = give(&memory, device, block->bytes)))
        memory = penstock__alloc(block->bytes);
    block->memory = memory;
    return memory ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static void list(penstock_context *context, struct penstock__host_block *block)
{
    pthread_mutex_lock(&context->host_lock);
    block->following = context->host_blocks;
    context->host_blocks = block;
    pthread_mutex_unlock(&context->host_lock);
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
    list(context, block);
    *memory = block->memory;
    return PENSTOCK_OK;
}

/* The opened device that is meant; NULL for "auto", and for "prefer:" where it is not there. */
static int find_device(struct penstock_device **found, penstock_context *context, const char *device)
{
    enum penstock_preference preference;
    const char *name;
    int status = penstock__device_parse(&preference, &name, device);
    *found = NULL;
    if (status || preference == PENSTOCK_DEVICE_AUTO)
        return status;
    if ((status = penstock__device_find(context, name, found)) || (status = penstock__device_open(*found)))
        *found = NULL;
    return preference == PENSTOCK_DEVICE_NAMED ? status : PENSTOCK_OK;
}

int penstock_host_memory_new(void **memory, penstock_context *context, const char *device, size_t bytes)
{
    struct penstock_device *found;
    int status;
    if (!memory || !context || !bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_host_memory_new: no place, context or bytes");
    *memory = NULL;
    status = find_device(&found, context, device);
    return status ? status : penstock__host_block_new(memory, context, found, bytes);
}

/* By the first of several devices that does it, as give(). */
static int lock(struct penstock__host_block *block, struct penstock_device *device)
{
    struct penstock_device *member;
    int status = PENSTOCK_OK;
    for (size_t i = 0; (member = penstock__device_member(device, i)) && member->backend->host_lock; i++)
        if (!(status = member->backend->host_lock(member, block->memory, block->bytes))) {
            block->device = member;
            break;
        }
    return status;
}

int penstock_host_memory_lock(penstock_context *context, const char *device, void *memory, size_t bytes)
{
    struct penstock__host_block *block;
    struct penstock_device *found;
    int status;
    if (!context || !memory || !bytes || (uintptr_t)memory > UINTPTR_MAX - bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_host_memory_lock: no context, or no such memory");
    if ((status = find_device(&found, context, device)))
        return status;
    if (!(block = penstock__calloc(1, sizeof *block)))
        return PENSTOCK_ERR_MEMORY;
    *block = (struct penstock__host_block){.memory = memory, .bytes = bytes, .kept = true};
    if ((status = lock(block, found))) {
        penstock__free(block);
        return status;
    }
    list(context, block);
    return PENSTOCK_OK;
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

/* Whether memory of one device is reached by the other, too. */
static bool reaches(const struct penstock_device *device, const struct penstock_device *owner)
{
    return device == owner ||
           (owner && owner->backend == device->backend && device->backend->flags & PENSTOCK_BACKEND_PORTABLE);
}

bool penstock__host_reached(const struct penstock_device *device, const void *host, size_t bytes)
{
    penstock_context *context = device->context;
    uintptr_t first = (uintptr_t)host;
    bool reached = false;
    pthread_mutex_lock(&context->host_lock);
    for (const struct penstock__host_block *block = context->host_blocks; block && !reached; block = block->following)
        reached = reaches(device, block->device) && first >= (uintptr_t)block->memory &&
                  first + bytes <= (uintptr_t)block->memory + block->bytes;
    pthread_mutex_unlock(&context->host_lock);
    return reached;
}

bool penstock__host_is_read_by_device(penstock_context *context, const void *memory)
{
    const uintptr_t at = (uintptr_t)memory;
    bool is = false;
    pthread_mutex_lock(&context->host_lock);
    for (const struct penstock__host_block *block = context->host_blocks; block && !is; block = block->following)
        is = block->device && !block->kept && !block->device->on_cpu && at >= (uintptr_t)block->memory &&
             at < (uintptr_t)block->memory + block->bytes;
    pthread_mutex_unlock(&context->host_lock);
    return is;
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
