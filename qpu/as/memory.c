/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An arena: the assembler frees nothing by itself, and everything at its end. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 14 };

struct qpu__block {
    struct qpu__block *next;
    size_t used, size;
};

enum { ALIGNMENT = sizeof(max_align_t) < 16 ? 16 : sizeof(max_align_t), HEADER = 2 * ALIGNMENT };

void *qpu__alloc(struct qpu__arena *arena, size_t size)
{
    struct qpu__block *block = arena->blocks;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = malloc(HEADER + room);
        if (!block) {
            arena->exhausted = true;
            return NULL;
        }
        *block = (struct qpu__block){.next = arena->blocks, .size = room};
        arena->blocks = block;
    }
    char *memory = (char *)block + HEADER + block->used;
    block->used += size;
    return memset(memory, 0, size);
}

char *qpu__copy(struct qpu__arena *arena, const char *text, size_t length)
{
    char *copy = qpu__alloc(arena, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

/* Room for one item more: `items`, or a larger copy of it. NULL leaves `items` as it is. */
void *qpu__grow(struct qpu__arena *arena, void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity ? *capacity * 2 : 16;
    void *copy = qpu__alloc(arena, larger * item_size);
    if (copy) {
        if (count)
            memcpy(copy, items, count * item_size);
        *capacity = larger;
    }
    return copy;
}

void qpu__arena_free(struct qpu__arena *arena)
{
    while (arena->blocks) {
        struct qpu__block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
