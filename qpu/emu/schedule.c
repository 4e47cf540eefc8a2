/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Who runs when. Time goes in slots of one instruction; each QPU that is not stalled issues one in each slot. With
 * random interleave the order within a slot changes and QPUs pause, now and then for long. Nothing to wake up for
 * and nobody able to issue is a deadlock.
 */
#include "state.h"

static const uint32_t CODE_LINE_MASK = CODE_LINE - 1;
/* Slots that a QPU may start later than others, with random interleave. */
enum { LATEST_START = 512 };

static const uint64_t DEFAULT_CLOCKS = UINT64_C(1) << 32;

static const struct operation *fetch(struct qpu_emulator *e, struct qpu *q)
{
    uint32_t place = q->pc & 0x3fffffff;
    struct operation *op = &e->operations[q->pc / 8 % OPERATIONS];
    uint64_t word;
    if (place - q->code_first >= q->code_bytes) {
        const struct region *region = qpu_emu__region(e, place);
        q->code_bytes = 0;
        if (!region || region->bytes < 8) {
            qpu_emu__hazard(e, q, QPU_HAZARD_CODE_ADDRESS, q->pc);
            return NULL;
        }
        q->code = region->memory;
        q->code_first = region->address;
        q->code_bytes = region->bytes;
    }
    if (q->pc & 7 || place - q->code_first > q->code_bytes - 8) {
        qpu_emu__hazard(e, q, QPU_HAZARD_CODE_ADDRESS, q->pc);
        return NULL;
    }
    word = qpu_emu__load32(q->code + (place - q->code_first));
    word |= (uint64_t)qpu_emu__load32(q->code + (place - q->code_first) + 4) << 32;
    if (!op->valid || op->word != word)
        qpu_emu__prepare(op, word);
    return op;
}

static void pause(struct qpu_emulator *e, struct qpu *q)
{
    uint64_t random = qpu_emu__random(e);
    unsigned slots = 0;
    if (!(random & 7))
        slots = random >> 8 & 15;
    if (!(random >> 16 & 255))
        slots = random >> 24 & 511;
    q->wake = e->clock + (uint64_t)(slots + 1) * SLOT_CLOCKS;
}

static void issue(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    q->count++;
    qpu_emu__check(e, q, op);
    if (e->stopped)
        return;
    if (e->options.trace) {
        struct qpu_step step = {.qpu = q->number, .pc = q->pc, .word = op->word, .clock = e->clock};
        e->options.trace(e->options.trace_context, &step);
    }
    q->activity.instructions++;
    e->counters[COUNT_INSTRUCTIONS]++;
    q->wake = e->clock + SLOT_CLOCKS;
    if (e->options.random_interleave)
        pause(e, q);
    qpu_emu__execute(e, q, op);
}

/* One slot of one QPU. False: it waits for what only another QPU can do, or for ever. */
static bool step(struct qpu_emulator *e, struct qpu *q)
{
    const struct operation *op = fetch(e, q);
    enum readiness readiness;
    if (!op)
        return false;
    if ((q->pc & ~CODE_LINE_MASK) != q->code_line) {
        unsigned slots = qpu_emu__fetch_code_line(e, q, q->pc);
        q->code_line = q->pc & ~CODE_LINE_MASK;
        if (slots) {
            q->wake = e->clock + (uint64_t)slots * SLOT_CLOCKS;
            q->activity.stall_clocks += q->wake - e->clock;
            return true;
        }
    }
    readiness = qpu_emu__ready(e, q, op);
    if (e->stopped)
        return false;
    if (readiness == READY) {
        issue(e, q, op);
        return true;
    }
    q->hung = readiness == WAIT_FOREVER;
    q->activity.stall_clocks += readiness == WAIT_UNTIL_WAKE ? q->wake - e->clock : SLOT_CLOCKS;
    return readiness == WAIT_UNTIL_WAKE;
}

struct slot {
    bool progress, alive;
    uint64_t next; /* clock at which the first sleeper wakes */
};

static struct slot run_slot(struct qpu_emulator *e)
{
    struct slot slot = {.next = UINT64_MAX};
    unsigned qpus = e->options.qpus, first = 0;
    if (e->options.random_interleave)
        first = (unsigned)(qpu_emu__random(e) % qpus);
    for (unsigned i = 0; i < qpus && !e->stopped; i++) {
        struct qpu *q = &e->qpu[first + i < qpus ? first + i : first + i - qpus];
        if (!q->alive)
            continue;
        slot.alive = true;
        if (q->hung)
            continue;
        if (q->wake <= e->clock)
            slot.progress |= step(e, q);
        else if (q->wake < slot.next)
            slot.next = q->wake;
    }
    return slot;
}

static enum qpu_outcome run(struct qpu_emulator *e, uint64_t limit)
{
    for (;;) {
        struct slot slot = run_slot(e);
        if (e->stopped)
            return QPU_RUN_TRAPPED;
        if (!slot.alive)
            return QPU_RUN_ENDED;
        if (!slot.progress && slot.next == UINT64_MAX)
            return QPU_RUN_DEADLOCKED;
        e->clock = slot.progress ? e->clock + SLOT_CLOCKS : slot.next;
        if (e->clock - e->started > limit)
            return QPU_RUN_LIMIT;
    }
}

/* A place to look at for who reads of a deadlock: the first QPU that had not ended. */
static void note_survivor(struct qpu_emulator *e)
{
    for (unsigned i = 0; i < e->options.qpus && e->trap.hazard == QPU_HAZARD_NONE; i++) {
        const struct qpu *q = &e->qpu[i];
        if (!q->alive)
            continue;
        e->trap = (struct qpu_trap){.qpu = i, .pc = q->pc, .clock = e->clock};
        return;
    }
}

/* What nobody waited for happens after the last QPU's end. */
static void finish(struct qpu_emulator *e)
{
    for (unsigned i = 0; i < e->options.qpus; i++) {
        qpu_emu__dma_finish(e, &e->qpu[i], false);
        qpu_emu__vpm_land(e, &e->qpu[i]);
        qpu_emu__dma_finish(e, &e->qpu[i], true);
    }
}

enum qpu_outcome qpu_emulator_run(struct qpu_emulator *e)
{
    uint64_t busy = 0;
    enum qpu_outcome outcome;
    e->trap = (struct qpu_trap){.hazard = QPU_HAZARD_NONE};
    e->stopped = false;
    e->mutex = -1;
    e->started = e->clock;
    for (unsigned i = 0; i < 16; i++)
        e->initial_semaphores[i] = e->semaphores[i];
    for (unsigned i = 0; i < e->options.qpus; i++) {
        e->qpu[i].alive = e->qpu[i].launched;
        e->qpu[i].wake = e->clock;
        if (e->options.random_interleave)
            e->qpu[i].wake += qpu_emu__random(e) % LATEST_START * SLOT_CLOCKS;
        busy += e->qpu[i].launched;
    }
    outcome = run(e, e->options.max_clocks ? e->options.max_clocks : DEFAULT_CLOCKS);
    if (outcome == QPU_RUN_DEADLOCKED || outcome == QPU_RUN_LIMIT)
        note_survivor(e);
    finish(e);
    e->counters[COUNT_IDLE] += (QPU_EMULATOR_QPUS - busy) * (e->clock - e->started);
    for (unsigned i = 0; i < e->options.qpus; i++)
        e->qpu[i].launched = e->qpu[i].alive = false;
    return outcome;
}
