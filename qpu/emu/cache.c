/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The read caches: in each slice a first level for each TMU (4 KiB, direct-mapped), for uniforms and for instructions
 * (4 KiB, 4 ways), and one second level for all (L2C: 32 KiB, 4 ways, least recently used). DMA goes around them, so
 * a line may hold words that memory has no more. The uniform cache's size is not published: taken as a TMU's.
 */
#include <stdlib.h>
#include <string.h>

#include "never_evict.h"
#include "state.h"

enum { LINE = 64, FIRST_LINES = 64, SECOND_SETS = 128, CODE_SETS = 16, WAYS = 4, EMPTY = 1 };

static const uint32_t LINE_MASK = LINE - 1;

/* Instructions until a read arrives, from public measurements of TMU latency: approximate. */
enum { FIRST_HIT_SLOTS = 9, SECOND_HIT_SLOTS = 12, MEMORY_SLOTS = 20 };

struct line {
    uint32_t address; /* of its first byte; EMPTY (no line begins there): none */
    uint64_t used;
    uint8_t data[LINE];
};

struct caches {
    enum qpu_cache_mode mode;
    struct line first[SLICES][3][FIRST_LINES]; /* by enum cache_reader */
    struct line second[SECOND_SETS][WAYS];
    struct line code[SLICES][CODE_SETS][WAYS]; /* addresses only: instructions are never stale here */
    uint64_t tick;
    struct never_evict *kept;
};

void qpu_emu__caches_clear(struct caches *c)
{
    for (int s = 0; s < SLICES; s++) {
        for (int r = 0; r < 3; r++)
            for (int i = 0; i < FIRST_LINES; i++)
                c->first[s][r][i].address = EMPTY;
        for (int i = 0; i < CODE_SETS; i++)
            for (int w = 0; w < WAYS; w++)
                c->code[s][i][w].address = EMPTY;
    }
    for (int i = 0; i < SECOND_SETS; i++)
        for (int w = 0; w < WAYS; w++)
            c->second[i][w].address = EMPTY;
    if (c->kept)
        qpu_emu__never_evict_clear(c->kept);
}

struct caches *qpu_emu__caches_new(enum qpu_cache_mode mode)
{
    struct caches *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->mode = mode;
    if (mode == QPU_CACHE_NEVER_EVICT && !(c->kept = qpu_emu__never_evict_new())) {
        free(c);
        return NULL;
    }
    qpu_emu__caches_clear(c);
    return c;
}

void qpu_emu__caches_free(struct caches *c)
{
    if (c)
        qpu_emu__never_evict_free(c->kept);
    free(c);
}

/* The way of a set that holds the line, or the one to fill: empty or used longest ago. */
static struct line *way_of(struct line *set, uint32_t address, bool *hit)
{
    struct line *oldest = &set[0];
    for (int w = 0; w < WAYS; w++) {
        if (set[w].address == address) {
            *hit = true;
            return &set[w];
        }
        if (set[w].address == EMPTY || (oldest->address != EMPTY && set[w].used < oldest->used))
            oldest = &set[w];
    }
    *hit = false;
    return oldest;
}

static void fill_from_memory(struct qpu_emulator *e, struct line *line, uint32_t address)
{
    line->address = address;
    for (uint32_t i = 0; i < LINE; i += 4) {
        const uint8_t *from = qpu_emu__memory(e, address + i, 4);
        if (from)
            memcpy(line->data + i, from, 4);
        else
            memset(line->data + i, 0, 4);
    }
}

static const struct line *second_level(struct qpu_emulator *e, uint32_t address, unsigned *slots)
{
    struct caches *c = e->caches;
    bool hit;
    struct line *line = way_of(c->second[address / LINE % SECOND_SETS], address, &hit);
    line->used = ++c->tick;
    e->counters[hit ? COUNT_L2_HIT : COUNT_L2_MISS]++;
    *slots = hit ? SECOND_HIT_SLOTS : MEMORY_SLOTS;
    if (!hit)
        fill_from_memory(e, line, address);
    return line;
}

static uint32_t word_in_real_cache(struct qpu_emulator *e, unsigned slice, enum cache_reader reader, uint32_t address,
                                   unsigned *slots)
{
    uint32_t start = address & ~LINE_MASK;
    struct line *line = &e->caches->first[slice][reader][address / LINE % FIRST_LINES];
    bool hit = line->address == start;
    unsigned wait = FIRST_HIT_SLOTS;
    if (!hit) {
        const struct line *from = second_level(e, start, &wait);
        line->address = start;
        memcpy(line->data, from->data, LINE);
    }
    if (reader == CACHE_UNIFORM)
        e->counters[hit ? COUNT_UNIFORM_HIT : COUNT_UNIFORM_MISS]++;
    else
        e->counters[COUNT_TMU_MISS] += !hit;
    if (wait > *slots)
        *slots = wait;
    return qpu_emu__load32(line->data + (address & (LINE - 1)));
}

uint32_t qpu_emu__cached_word(struct qpu_emulator *e, struct qpu *q, enum cache_reader reader, uint32_t address,
                              unsigned *slots)
{
    struct caches *c = e->caches;
    const uint8_t *memory = qpu_emu__memory(e, address &= ~UINT32_C(3), 4);
    uint32_t now, seen;
    bool stale;
    if (!memory) {
        qpu_emu__hazard(e, q, reader == CACHE_UNIFORM ? QPU_HAZARD_UNIFORM_ADDRESS : QPU_HAZARD_TMU_ADDRESS, address);
        return 0;
    }
    /* The second pair of QPUs in a slice has its TMUs the other way round unless it wrote TMU_NOSWAP. */
    if (reader != CACHE_UNIFORM && q->number % SLICE_QPUS >= 2 && !q->noswap)
        reader = reader == CACHE_TMU0 ? CACHE_TMU1 : CACHE_TMU0;
    address &= 0x3fffffff; /* aliases share a line */
    if (c->mode == QPU_CACHE_REAL)
        return word_in_real_cache(e, q->number / SLICE_QPUS, reader, address, slots);
    *slots = FIRST_HIT_SLOTS;
    now = qpu_emu__load32(memory);
    if (c->mode == QPU_CACHE_OFF)
        return now;
    if (!qpu_emu__never_evict_read(c->kept, e, address, now, &seen, &stale))
        qpu_emu__hazard(e, q, QPU_HAZARD_NO_MEMORY, address);
    else if (stale)
        qpu_emu__hazard(e, q, QPU_HAZARD_STALE_READ, address);
    return seen;
}

void qpu_emu__cache_note_store(struct qpu_emulator *e, uint32_t address, uint32_t bytes)
{
    if (e->caches->kept)
        qpu_emu__never_evict_store(e->caches->kept, address & 0x3fffffff, bytes);
}

unsigned qpu_emu__fetch_code_line(struct qpu_emulator *e, struct qpu *q, uint32_t address)
{
    uint32_t start = address & 0x3fffffff & ~LINE_MASK;
    struct caches *c = e->caches;
    bool hit;
    unsigned slots;
    struct line *line;
    if (c->mode != QPU_CACHE_REAL)
        return 0;
    line = way_of(c->code[q->number / SLICE_QPUS][start / LINE % CODE_SETS], start, &hit);
    line->used = ++c->tick;
    e->counters[hit ? COUNT_CODE_HIT : COUNT_CODE_MISS]++;
    if (hit)
        return 0;
    line->address = start;
    second_level(e, start, &slots);
    return slots;
}
