/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The memory that the QPUs see: the caller's regions, by address. */
#include "state.h"

enum { ALIAS_BITS = 2 }; /* bus address bits 31 and 30 choose a cache policy */

static uint32_t physical(uint32_t address)
{
    return address & (UINT32_MAX >> ALIAS_BITS);
}

const struct region *qpu_emu__region(struct qpu_emulator *e, uint32_t address)
{
    uint32_t place = physical(address);
    for (unsigned i = 0; i < e->region_count; i++) {
        unsigned index = i ? (e->last_region + i) % e->region_count : e->last_region;
        if (index < e->region_count && place - e->regions[index].address < e->regions[index].bytes) {
            e->last_region = index;
            return &e->regions[index];
        }
    }
    return NULL;
}

uint8_t *qpu_emu__memory(struct qpu_emulator *e, uint32_t address, uint32_t bytes)
{
    const struct region *region = qpu_emu__region(e, address);
    uint32_t offset;
    if (!region)
        return NULL;
    offset = physical(address) - region->address;
    return region->bytes - offset >= bytes ? region->memory + offset : NULL;
}

int qpu_emulator_map(struct qpu_emulator *e, uint32_t address, void *memory, uint32_t bytes)
{
    uint32_t first = physical(address);
    if (!e || !memory || !bytes || (address | bytes) & 3 || e->region_count == QPU_EMULATOR_REGIONS)
        return QPU_EMULATOR_INVALID;
    if ((uint64_t)first + bytes > (UINT64_C(1) << (32 - ALIAS_BITS)))
        return QPU_EMULATOR_INVALID;
    for (unsigned i = 0; i < e->region_count; i++) {
        const struct region *other = &e->regions[i];
        if (first < other->address + other->bytes && other->address < first + bytes)
            return QPU_EMULATOR_INVALID;
    }
    e->regions[e->region_count++] = (struct region){.address = first, .bytes = bytes, .memory = memory};
    return QPU_EMULATOR_OK;
}

int qpu_emulator_unmap(struct qpu_emulator *e, uint32_t address)
{
    if (!e)
        return QPU_EMULATOR_INVALID;
    for (unsigned i = 0; i < e->region_count; i++) {
        if (e->regions[i].address != physical(address))
            continue;
        e->regions[i] = e->regions[--e->region_count];
        return QPU_EMULATOR_OK;
    }
    return QPU_EMULATOR_INVALID;
}
