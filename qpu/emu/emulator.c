/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The emulator as an object: making and freeing it, launching programs, asking what happened. */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

/* SplitMix64 (S. Vigna). */
uint64_t qpu_emu__random(struct qpu_emulator *e)
{
    uint64_t z = (e->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void poison(struct qpu_emulator *e, struct qpu_lanes *lanes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < QPU_LANES; k++)
            lanes[i].v[k] = (uint32_t)qpu_emu__random(e);
}

static bool allocate(struct qpu_emulator *e)
{
    const struct qpu_emulator_options *options = &e->options;
    if (!(e->caches = qpu_emu__caches_new(options->cache)))
        return false;
    for (unsigned i = 0; i < options->qpus; i++) {
        struct qpu *q = &e->qpu[i];
        if (options->late_dma && (!(q->load.late = calloc(DMA_DEPTH, sizeof *q->load.late)) ||
                                  !(q->store.late = calloc(DMA_DEPTH, sizeof *q->store.late))))
            return false;
        if (options->hold_vpm && !(q->held = calloc(HELD_WRITES, sizeof *q->held)))
            return false;
    }
    return true;
}

int qpu_emulator_new(struct qpu_emulator **emulator, const struct qpu_emulator_options *options)
{
    struct qpu_emulator *e;
    if (emulator)
        *emulator = NULL;
    if (!emulator || !options || options->qpus < 1 || options->qpus > QPU_EMULATOR_QPUS ||
        (unsigned)options->cache > QPU_CACHE_NEVER_EVICT)
        return QPU_EMULATOR_INVALID;
    if (!(e = calloc(1, sizeof *e)))
        return QPU_EMULATOR_NO_MEMORY;
    e->options = *options;
    e->random = options->seed;
    if (!allocate(e)) {
        qpu_emulator_free(e);
        return QPU_EMULATOR_NO_MEMORY;
    }
    for (unsigned y = 0; options->poison && y < VPM_ROWS; y++)
        for (unsigned x = 0; x < QPU_LANES; x++)
            e->vpm[y][x] = (uint32_t)qpu_emu__random(e);
    for (unsigned i = 0; i < QPU_EMULATOR_QPUS; i++)
        e->qpu[i].number = i;
    *emulator = e;
    return QPU_EMULATOR_OK;
}

void qpu_emulator_free(struct qpu_emulator *e)
{
    if (!e)
        return;
    for (unsigned i = 0; i < QPU_EMULATOR_QPUS; i++) {
        free(e->qpu[i].load.late);
        free(e->qpu[i].store.late);
        free(e->qpu[i].held);
    }
    qpu_emu__caches_free(e->caches);
    free(e);
}

void qpu_emulator_clear_caches(struct qpu_emulator *e)
{
    if (e)
        qpu_emu__caches_clear(e->caches);
}

int qpu_emulator_launch(struct qpu_emulator *e, unsigned qpu, uint32_t pc, uint32_t uniforms)
{
    struct qpu *q, fresh = {.number = qpu, .launched = true, .pc = pc, .uniforms = uniforms, .wrote = {-1, -1}};
    if (!e || qpu >= e->options.qpus)
        return QPU_EMULATOR_INVALID;
    q = &e->qpu[qpu];
    fresh.activity = q->activity;
    fresh.load.late = q->load.late;
    fresh.store.late = q->store.late;
    fresh.held = q->held;
    fresh.code_line = NO_CODE_LINE;
    *q = fresh;
    if (e->options.poison) {
        poison(e, q->file[0], 32);
        poison(e, q->file[1], 32);
        poison(e, q->r, 6);
        q->zero = (uint16_t)qpu_emu__random(e);
        q->negative = (uint16_t)qpu_emu__random(e);
        q->carry = (uint16_t)qpu_emu__random(e);
    }
    return QPU_EMULATOR_OK;
}

struct qpu_trap qpu_emulator_trap(const struct qpu_emulator *e)
{
    return e ? e->trap : (struct qpu_trap){.hazard = QPU_HAZARD_NONE};
}

uint64_t qpu_emulator_hazards(const struct qpu_emulator *e, enum qpu_hazard hazard)
{
    return e && (unsigned)hazard < QPU_HAZARD_COUNT ? e->hazards[hazard] : 0;
}

uint64_t qpu_emulator_clocks(const struct qpu_emulator *e)
{
    return e ? e->clock : 0;
}

struct qpu_activity qpu_emulator_activity(const struct qpu_emulator *e, unsigned qpu)
{
    return e && qpu < QPU_EMULATOR_QPUS ? e->qpu[qpu].activity : (struct qpu_activity){0};
}

uint64_t qpu_emulator_counter(const struct qpu_emulator *e, unsigned number)
{
    return e && number < QPU_EMULATOR_COUNTERS ? e->counters[number] : 0;
}

const char *qpu_counter_name(unsigned number)
{
    static const char *const names[QPU_EMULATOR_COUNTERS] = {
        [COUNT_IDLE] = "idle QPU clocks",
        [COUNT_INSTRUCTIONS] = "instructions",
        [COUNT_TMU_STALL] = "clocks stalled for TMUs",
        [COUNT_CODE_HIT] = "instruction cache hits",
        [COUNT_CODE_MISS] = "instruction cache misses",
        [COUNT_UNIFORM_HIT] = "uniform cache hits",
        [COUNT_UNIFORM_MISS] = "uniform cache misses",
        [COUNT_TMU_QUADS] = "TMU quads",
        [COUNT_TMU_MISS] = "TMU cache misses",
        [COUNT_STORE_STALL] = "clocks stalled for DMA stores",
        [COUNT_LOAD_STALL] = "clocks stalled for DMA loads",
        [COUNT_L2_HIT] = "L2C hits",
        [COUNT_L2_MISS] = "L2C misses",
    };
    return number < QPU_EMULATOR_COUNTERS ? names[number] : NULL;
}

uint32_t qpu_emulator_interrupts(struct qpu_emulator *e)
{
    uint32_t interrupts = e ? e->interrupts : 0;
    if (e)
        e->interrupts = 0;
    return interrupts;
}

unsigned qpu_emulator_semaphore(const struct qpu_emulator *e, unsigned number)
{
    return e && number < 16 ? e->semaphores[number] : 0;
}
