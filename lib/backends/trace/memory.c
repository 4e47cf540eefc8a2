/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory of buffers, between guards, that says nothing before it is written. */
#include "backends/trace/steps.h"

#include <string.h>

#define GUARD_BYTES 64
#define GUARD       0xa5

int penstock__trace_memory_new(struct trace_memory **memory, size_t bytes)
{
    struct trace_memory *new;
    if (bytes > SIZE_MAX - (size_t)2 * GUARD_BYTES)
        return penstock__error(PENSTOCK_ERR_MEMORY, "out of memory (%zu bytes)", bytes);
    if (!(new = penstock__calloc(1, sizeof *new)))
        return PENSTOCK_ERR_MEMORY;
    if (!(new->block = penstock__alloc(bytes + 2 * GUARD_BYTES))) {
        penstock__free(new);
        return PENSTOCK_ERR_MEMORY;
    }
    new->bytes = bytes;
    new->users = 1;
    memset(new->block, GUARD, bytes + 2 * GUARD_BYTES);
    memset(new->block + GUARD_BYTES, PENSTOCK__TRACE_POISON, bytes);
    *memory = new;
    return PENSTOCK_OK;
}

void penstock__trace_memory_drop(struct trace_memory *memory)
{
    if (!memory || --memory->users)
        return;
    penstock__free(memory->block);
    penstock__free(memory);
}

bool penstock__trace_memory_intact(const struct trace_memory *memory)
{
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (memory->block[i] != GUARD || memory->block[GUARD_BYTES + memory->bytes + i] != GUARD)
            return false;
    return true;
}

unsigned char *penstock__trace_content(const struct trace_place *place)
{
    return place->memory->block + GUARD_BYTES + place->at;
}
