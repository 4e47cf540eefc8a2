/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Scratch memory of a slot. */
#include "backends/cpu/cpu.h"

int penstock__cpu_grow_scratch(struct cpu_slot *slot, size_t bytes)
{
    void *larger;
    if (bytes <= slot->scratch_bytes)
        return PENSTOCK_OK;
    if (!(larger = penstock__alloc(bytes)))
        return PENSTOCK_ERR_MEMORY;
    penstock__free(slot->scratch);
    slot->scratch = larger;
    slot->scratch_bytes = bytes;
    return PENSTOCK_OK;
}
