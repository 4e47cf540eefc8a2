/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Buffers of the device that a kernel on the host works on. */
#include "gpu_trace.h"

#include <stdlib.h>
#include <string.h>

#define GAP_BYTES ((size_t)4096) /* about a buffer, so that an overrun meets nothing else */

struct gpu_trace_memory *gpu_trace_memory_new(size_t bytes, const void *content)
{
    struct gpu_trace_memory *memory = calloc(1, sizeof *memory);
    unsigned char *whole = aligned_alloc(GAP_BYTES, (bytes / GAP_BYTES + 3) * GAP_BYTES);
    if (!memory || !whole) {
        free(memory);
        free(whole);
        return NULL;
    }
    *memory = (struct gpu_trace_memory){.first = whole + GAP_BYTES,
                                        .bytes = bytes,
                                        .loads = calloc(bytes + 1, sizeof(uint16_t)),
                                        .stores = calloc(bytes + 1, sizeof(uint16_t)),
                                        .written = calloc(bytes + 1, 1)};
    if (!memory->loads || !memory->stores || !memory->written) {
        gpu_trace_memory_free(memory);
        return NULL;
    }
    memset(whole, 0, (bytes / GAP_BYTES + 3) * GAP_BYTES);
    if (content) {
        memcpy(memory->first, content, bytes);
        memset(memory->written, 1, bytes);
    }
    return memory;
}

void gpu_trace_memory_free(struct gpu_trace_memory *memory)
{
    if (!memory)
        return;
    free(memory->first - GAP_BYTES);
    free(memory->loads);
    free(memory->stores);
    free(memory->written);
    free(memory);
}

void gpu_trace_memory_uncount(struct gpu_trace_memory *memory)
{
    memset(memory->loads, 0, memory->bytes * sizeof *memory->loads);
    memset(memory->stores, 0, memory->bytes * sizeof *memory->stores);
}

void gpu_trace_memory_forget(struct gpu_trace_memory *memory)
{
    memset(memory->written, 0, memory->bytes);
}
