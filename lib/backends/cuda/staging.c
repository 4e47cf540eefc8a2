/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Page-locked memory between the caller's and the device's. The driver copies from and to ordinary memory by one
 * thread and, on the way back, waits for the device meanwhile; from and to page-locked memory the device copies by
 * itself at the bus's rate. The copies that this adds in the host's memory are shared among the context's threads.
 */
#include "backends/cuda/cuda.h"

#define LEAST_BYTES ((size_t)64 << 10)

static const struct cuda_api *api_of(const struct penstock_device *device)
{
    return penstock__cuda_opened(device)->api;
}

/* ---------------------------------------------------------------- blocks ---------------------- */

/* Sizes are powers of two, so that batches of growing size leave no more behind than the largest needs. */
static int new_block(struct cuda_block **made, const struct penstock_device *device, size_t bytes)
{
    struct cuda_block *block = penstock__calloc(1, sizeof *block);
    int status;
    if (!block)
        return PENSTOCK_ERR_MEMORY;
    for (block->capacity = LEAST_BYTES; block->capacity < bytes;)
        block->capacity *= 2;
    status =
        penstock__cuda_check(device, "cuMemAllocHost", api_of(device)->MemAllocHost(&block->memory, block->capacity));
    if (status)
        penstock__free(block);
    else
        *made = block;
    return status;
}

/* Takes the smallest free block that will do out of the list; NULL if none will. */
static struct cuda_block *take_free(struct cuda_staging *staging, size_t bytes)
{
    struct cuda_block **best = NULL, *block;
    for (struct cuda_block **link = &staging->first; *link; link = &(*link)->next)
        if ((*link)->mark <= staging->done && (*link)->capacity >= bytes &&
            (!best || (*link)->capacity < (*best)->capacity))
            best = link;
    if (!best)
        return NULL;
    block = *best;
    *best = block->next;
    return block;
}

int penstock__cuda_stage(struct cuda_block **staged, struct cuda_staging *staging, const struct penstock_device *device,
                         size_t bytes, uint64_t mark)
{
    struct cuda_block *block = take_free(staging, bytes), **link = &staging->first;
    int status;
    if (!block && (status = new_block(&block, device, bytes)))
        return status;
    while (*link)
        link = &(*link)->next;
    *link = block;
    block->next = NULL;
    block->mark = mark;
    block->host = NULL;
    block->bytes = bytes;
    *staged = block;
    return PENSTOCK_OK;
}

void penstock__cuda_unstage(struct cuda_staging *staging, const struct penstock_device *device, uint64_t mark)
{
    if (mark <= staging->done)
        return;
    for (struct cuda_block *block = staging->first; block; block = block->next)
        if (block->mark <= mark && block->host) {
            penstock__copy(device->context, block->host, block->memory, block->bytes);
            block->host = NULL;
        }
    staging->done = mark;
}

void penstock__cuda_staging_free(struct cuda_staging *staging, const struct penstock_device *device)
{
    while (staging->first) {
        struct cuda_block *block = staging->first;
        staging->first = block->next;
        api_of(device)->MemFreeHost(block->memory);
        penstock__free(block);
    }
}
