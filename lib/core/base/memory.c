/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Every allocation of the library goes through here, so that a test can make the k-th one fail. */
#include "core/base/memory.h"
#include "backends/backend.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

static atomic_long fail_countdown = -1; /* < 0: never */
static atomic_long live_blocks;
static atomic_long calls;

void penstock__memory_fail_at(long k)
{
    atomic_store(&fail_countdown, k);
}

long penstock__memory_calls(void)
{
    return atomic_load(&calls);
}

long penstock__memory_live(void)
{
    return atomic_load(&live_blocks);
}

static bool must_fail(void)
{
    long left = atomic_load(&fail_countdown);
    while (left >= 0)
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
            return left == 0;
    return false;
}

void *penstock__alloc(size_t bytes)
{
    void *memory = NULL;
    size_t rounded;
    atomic_fetch_add(&calls, 1);
    rounded = penstock__round_up(bytes, ALIGNMENT);
    if (!rounded)
        rounded = ALIGNMENT;
    if (rounded < bytes || must_fail() || !(memory = aligned_alloc(ALIGNMENT, rounded))) {
        penstock__error(PENSTOCK_ERR_MEMORY, "out of memory (%zu bytes)", bytes);
        return NULL;
    }
    atomic_fetch_add(&live_blocks, 1);
    return memory;
}

void *penstock__calloc(size_t count, size_t bytes)
{
    void *memory;
    if (bytes && count > SIZE_MAX / bytes) {
        penstock__error(PENSTOCK_ERR_MEMORY, "out of memory (%zu times %zu bytes)", count, bytes);
        return NULL;
    }
    memory = penstock__alloc(count * bytes);
    if (memory)
        memset(memory, 0, count * bytes);
    return memory;
}

void *penstock__realloc(void *memory, size_t old_bytes, size_t bytes)
{
    void *larger = penstock__alloc(bytes);
    if (!larger)
        return NULL;
    if (memory)
        memcpy(larger, memory, old_bytes < bytes ? old_bytes : bytes);
    penstock__free(memory);
    return larger;
}

char *penstock__strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = penstock__alloc(bytes);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

void penstock__free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&live_blocks, 1);
    free(memory);
}
