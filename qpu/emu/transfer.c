/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * One DMA transfer, load (VDR) or store (VDW): a block of rows in memory, rows or columns in the VPM. An element of
 * 16 or 8 bits takes the half or byte that the set-up names of a word of its own.
 */
#include "state.h"

/* Clocks, approximate: a start, each row, and two for a word. */
enum { START_CLOCKS = 40, ROW_CLOCKS = 16, WORD_CLOCKS = 2 };

struct block {
    unsigned rows, elements; /* elements of a row */
    unsigned bytes, shift;   /* of an element; its place in the word */
    bool horizontal;
    unsigned y, x;
};

static uint64_t duration(const struct block *block)
{
    return START_CLOCKS + (uint64_t)block->rows * (ROW_CLOCKS + (block->elements * block->bytes + 3) / 4 * WORD_CLOCKS);
}

/* MODEW: 0 words, 2 + H halves, 4 + B bytes. */
static bool set_width(struct block *block, unsigned mode)
{
    block->bytes = mode >= 4 ? 1 : mode >= 2 ? 2 : 4;
    block->shift = mode >= 4 ? (mode & 3) * 8 : mode >= 2 ? (mode & 1) * 16 : 0;
    return mode != 1;
}

/* The word of the VPM `along` elements from (y, x) in the row's direction; *outside becomes true beyond the end. */
static uint32_t *word_at(struct qpu_emulator *e, bool horizontal, unsigned y, unsigned x, unsigned along, bool *outside)
{
    if (horizontal) {
        y += (x + along) / QPU_LANES;
        x = (x + along) % QPU_LANES;
    } else {
        y += along;
    }
    *outside |= y >= VPM_ROWS || x >= QPU_LANES;
    return &e->vpm[y % VPM_ROWS][x % QPU_LANES];
}

static uint32_t aligned(struct qpu_emulator *e, struct qpu *q, const struct block *block, uint32_t address)
{
    if (address & (block->bytes - 1))
        qpu_emu__hazard(e, q, QPU_HAZARD_DMA_ALIGNMENT, address);
    return address & ~(block->bytes - 1);
}

static void store_row(struct qpu_emulator *e, const struct block *block, unsigned y, unsigned x, unsigned first,
                      uint8_t *to, bool *outside)
{
    for (unsigned k = 0; k < block->elements; k++) {
        uint32_t value = *word_at(e, block->horizontal, y, x, first + k, outside) >> block->shift;
        for (unsigned i = 0; i < block->bytes; i++)
            *to++ = (uint8_t)(value >> 8 * i);
    }
}

uint64_t qpu_emu__dma_store(struct qpu_emulator *e, struct qpu *q, const struct dma_transfer *transfer)
{
    uint32_t setup = transfer->setup.block, pitch = transfer->setup.pitch & 0xffff, address;
    bool consecutive = transfer->setup.pitch >> 16 & 1, outside = false;
    unsigned rows = setup >> 23 & 127, elements = setup >> 16 & 127;
    struct block block = {.rows = rows ? rows : 128,
                          .elements = elements ? elements : 128,
                          .horizontal = setup >> 14 & 1,
                          .y = setup >> 7 & 127,
                          .x = setup >> 3 & 15};
    if (!set_width(&block, setup & 7) || setup >> 15 & 1)
        qpu_emu__hazard(e, q, QPU_HAZARD_DMA_SETUP, setup);
    address = aligned(e, q, &block, transfer->address);
    for (unsigned r = 0; r < block.rows; r++) {
        uint32_t bytes = block.elements * block.bytes;
        uint8_t *to = qpu_emu__memory(e, address, bytes);
        unsigned y = block.y + (!consecutive && block.horizontal ? r : 0);
        unsigned x = block.x + (!consecutive && !block.horizontal ? r : 0);
        if (!to) {
            qpu_emu__hazard(e, q, QPU_HAZARD_STORE_ADDRESS, address);
        } else {
            store_row(e, &block, y, x, consecutive ? r * block.elements : 0, to, &outside);
            qpu_emu__cache_note_store(e, address, bytes);
        }
        address = aligned(e, q, &block, address + bytes + pitch);
    }
    if (outside)
        qpu_emu__hazard(e, q, QPU_HAZARD_DMA_LEAVES_VPM, setup);
    return duration(&block);
}

static void load_row(struct qpu_emulator *e, const struct block *block, unsigned y, const uint8_t *from, bool *outside)
{
    uint32_t mask = (block->bytes == 4 ? UINT32_MAX : (UINT32_C(1) << 8 * block->bytes) - 1) << block->shift;
    for (unsigned k = 0; k < block->elements; k++) {
        uint32_t *word = word_at(e, block->horizontal, y, block->x, k, outside), value = 0;
        for (unsigned i = 0; i < block->bytes; i++)
            value |= (uint32_t)*from++ << 8 * i;
        *word = (*word & ~mask) | (value << block->shift & mask);
    }
}

uint64_t qpu_emu__dma_load(struct qpu_emulator *e, struct qpu *q, const struct dma_transfer *transfer)
{
    uint32_t setup = transfer->setup.block, address;
    unsigned elements = setup >> 20 & 15, rows = setup >> 16 & 15, step = setup >> 12 & 15,
             pitch_code = setup >> 24 & 15;
    uint32_t pitch = pitch_code ? UINT32_C(8) << pitch_code : transfer->setup.pitch & 0x1fff;
    struct block block = {.rows = rows ? rows : 16,
                          .elements = elements ? elements : 16,
                          .horizontal = !(setup >> 11 & 1),
                          .y = setup >> 4 & 127,
                          .x = setup & 15};
    bool outside = false;
    unsigned parts, place;
    set_width(&block, setup >> 28 & 7);
    parts = 4 / block.bytes;
    place = block.y * parts + block.shift / (8 * block.bytes); /* {Y, H} or {Y, B}: what the row pitch adds to */
    address = aligned(e, q, &block, transfer->address);
    for (unsigned r = 0; r < block.rows; r++) {
        const uint8_t *from = qpu_emu__memory(e, address, block.elements * block.bytes);
        block.shift = place % parts * 8 * block.bytes;
        if (from)
            load_row(e, &block, place / parts, from, &outside);
        else
            qpu_emu__hazard(e, q, QPU_HAZARD_LOAD_ADDRESS, address);
        place += step ? step : 16;
        address = aligned(e, q, &block, address + pitch);
    }
    if (outside)
        qpu_emu__hazard(e, q, QPU_HAZARD_DMA_LEAVES_VPM, setup);
    return duration(&block);
}
