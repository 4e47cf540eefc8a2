/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Rules that depend on the instructions before this one, and what is left undone at the end. */
#include "state.h"

/* Distances, in instructions, that these must keep. */
enum { SFU_WINDOW = 2, BRANCH_GAP = 2, UNIFORMS_GAP = 2, NOSWAP_GAP = 2, VPM_READ_GAP = 3 };

void qpu_emu__hazard(struct qpu_emulator *e, const struct qpu *q, enum qpu_hazard hazard, uint32_t detail)
{
    e->hazards[hazard]++;
    if (!e->options.lenient || hazard == QPU_HAZARD_CODE_ADDRESS || hazard == QPU_HAZARD_NO_MEMORY)
        e->stopped = true;
    if (e->trap.hazard != QPU_HAZARD_NONE)
        return;
    e->trap = (struct qpu_trap){.hazard = hazard,
                                .qpu = q->number,
                                .pc = q->pc,
                                .word = e->operations[q->pc / 8 % OPERATIONS].word,
                                .clock = e->clock,
                                .detail = detail};
}

/* Whether the event at instruction `at` (0: never) lies 1 to `gap` instructions before the one about to execute. */
static bool within(const struct qpu *q, uint64_t at, unsigned gap)
{
    return at && q->count - at <= gap;
}

static void check_registers(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    if (op->reads_a && q->wrote[0] == op->port_a)
        qpu_emu__hazard(e, q, QPU_HAZARD_READ_AFTER_WRITE, op->port_a);
    if (op->reads_b && q->wrote[1] == op->port_b)
        qpu_emu__hazard(e, q, QPU_HAZARD_READ_AFTER_WRITE, op->port_b);
    if (op->rotate_sources & q->wrote_accumulators)
        qpu_emu__hazard(e, q, QPU_HAZARD_ROTATE_AFTER_WRITE, op->rotate_sources & q->wrote_accumulators);
    if (op->reads_flags && q->flags_unknown)
        qpu_emu__hazard(e, q, QPU_HAZARD_BRANCH_FLAGS, 0);
}

static void check_distances(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    if ((op->reads_r4 || op->loads_r4 || op->writes_sfu) && within(q, q->sfu_at, SFU_WINDOW))
        qpu_emu__hazard(e, q, QPU_HAZARD_SFU_WINDOW, (uint32_t)(q->count - q->sfu_at));
    if (op->in.kind == QPU_BRANCH && within(q, q->branch_at, BRANCH_GAP))
        qpu_emu__hazard(e, q, QPU_HAZARD_BRANCH_DISTANCE, (uint32_t)(q->count - q->branch_at));
    if (op->uniform && within(q, q->uniforms_at, UNIFORMS_GAP))
        qpu_emu__hazard(e, q, QPU_HAZARD_UNIFORMS_ADDRESS, (uint32_t)(q->count - q->uniforms_at));
    if (op->writes_tmu && within(q, q->noswap_at, NOSWAP_GAP))
        qpu_emu__hazard(e, q, QPU_HAZARD_NOSWAP_DISTANCE, (uint32_t)(q->count - q->noswap_at));
    if (op->reads_vpm && within(q, q->read_setup_at, VPM_READ_GAP))
        qpu_emu__hazard(e, q, QPU_HAZARD_VPM_READ_TOO_SOON, (uint32_t)(q->count - q->read_setup_at));
}

void qpu_emu__check(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    if (op->hazard)
        qpu_emu__hazard(e, q, op->hazard, op->detail);
    check_registers(e, q, op);
    check_distances(e, q, op);
    if (!q->ending && op->in.signal != QPU_SIGNAL_END)
        return;
    if (op->address_14)
        qpu_emu__hazard(e, q, QPU_HAZARD_END_ADDRESS_14, 14);
    if (op->peripheral)
        qpu_emu__hazard(e, q, QPU_HAZARD_END_PERIPHERAL, 0);
}

static bool others_live(const struct qpu_emulator *e)
{
    for (unsigned i = 0; i < e->options.qpus; i++)
        if (e->qpu[i].alive)
            return true;
    return false;
}

void qpu_emu__check_end(struct qpu_emulator *e, struct qpu *q)
{
    if (q->tmu[0].count || q->tmu[1].count)
        qpu_emu__hazard(e, q, QPU_HAZARD_END_TMU, q->tmu[0].count + q->tmu[1].count);
    if (q->vpm_read.left)
        qpu_emu__hazard(e, q, QPU_HAZARD_END_VPM, q->vpm_read.left);
    if (q->load.unfinished || q->store.unfinished)
        qpu_emu__hazard(e, q, QPU_HAZARD_END_DMA, q->store.unfinished);
    if (e->mutex == (int)q->number)
        qpu_emu__hazard(e, q, QPU_HAZARD_END_MUTEX, 0);
    if (others_live(e))
        return;
    for (unsigned i = 0; i < 16; i++)
        if (e->semaphores[i] != e->initial_semaphores[i])
            qpu_emu__hazard(e, q, QPU_HAZARD_END_SEMAPHORES, i);
}

const char *qpu_hazard_text(enum qpu_hazard hazard)
{
    static const char *const texts[QPU_HAZARD_COUNT] = {
        [QPU_HAZARD_NONE] = "no hazard",
        [QPU_HAZARD_READ_AFTER_WRITE] = "reads a register of file A or B that the instruction before wrote",
        [QPU_HAZARD_ROTATE_AFTER_WRITE] = "rotates, or rotates by, an accumulator that the instruction before wrote",
        [QPU_HAZARD_SFU_WINDOW] = "touches r4 within two instructions of a write to the SFU",
        [QPU_HAZARD_BRANCH_DISTANCE] = "branches within two instructions of a branch",
        [QPU_HAZARD_SAME_REGISTER] = "writes the same register from both ALUs",
        [QPU_HAZARD_CONDITIONAL_PERIPHERAL] = "writes a peripheral under a condition",
        [QPU_HAZARD_PERIPHERALS] = "uses more than one of TMU, SFU, mutex, semaphore and tile buffer",
        [QPU_HAZARD_SEMAPHORE_TARGET] = "a semaphore instruction writes TMU, SFU or tile buffer",
        [QPU_HAZARD_TMU_WITH_VPM] = "fetches from a TMU and accesses the VPM in one instruction",
        [QPU_HAZARD_VPM_SETUP_WITH_ACCESS] = "sets up VPM access with another set-up or an access in one instruction",
        [QPU_HAZARD_UNIFORMS_ADDRESS] = "reads a uniform within two instructions of a write to UNIFORMS_ADDRESS",
        [QPU_HAZARD_END_WRITES_FILE] = "the instruction with thrend writes a register of file A or B",
        [QPU_HAZARD_END_ADDRESS_14] = "one of the last three instructions touches register 14",
        [QPU_HAZARD_END_PERIPHERAL] = "one of the last three instructions touches uniforms, varyings, VPM or DMA",
        [QPU_HAZARD_NOSWAP_DISTANCE] = "writes a TMU within two instructions of a write to TMU_NOSWAP",
        [QPU_HAZARD_TMU_FULL] = "more than four requests to a TMU are in flight",
        [QPU_HAZARD_TMU_EMPTY] = "fetches from a TMU that nothing was asked of",
        [QPU_HAZARD_VPM_READ_WITHOUT_SETUP] = "reads more vectors from the VPM than were set up",
        [QPU_HAZARD_VPM_READ_TOO_SOON] = "reads the VPM within three instructions of the set-up",
        [QPU_HAZARD_VPM_SECOND_SETUP] = "sets up a VPM read while more than one vector is outstanding",
        [QPU_HAZARD_VPM_WRITE_WITHOUT_SETUP] = "writes to the VPM without a set-up",
        [QPU_HAZARD_END_SEMAPHORES] = "the last QPU ended with a semaphore that differs from its value at launch",
        [QPU_HAZARD_END_TMU] = "ended with results in a TMU's queue",
        [QPU_HAZARD_END_VPM] = "ended with VPM vectors set up and not read",
        [QPU_HAZARD_END_DMA] = "ended without waiting for a DMA transfer",
        [QPU_HAZARD_END_MUTEX] = "ended holding the mutex",
        [QPU_HAZARD_MUTEX_NOT_HELD] = "releases a mutex that it does not hold",
        [QPU_HAZARD_STALE_READ] = "reads a word through a cache that may hold it from before a store",
        [QPU_HAZARD_CODE_ADDRESS] = "the program counter leaves memory or is no multiple of 8",
        [QPU_HAZARD_UNIFORM_ADDRESS] = "reads a uniform outside memory",
        [QPU_HAZARD_TMU_ADDRESS] = "reads outside memory through a TMU",
        [QPU_HAZARD_LOAD_ADDRESS] = "loads from outside memory by DMA",
        [QPU_HAZARD_STORE_ADDRESS] = "stores outside memory by DMA",
        [QPU_HAZARD_DMA_ALIGNMENT] = "a DMA address is not a multiple of the element's size",
        [QPU_HAZARD_DMA_LEAVES_VPM] = "a DMA transfer leaves the VPM's 64 rows or 16 columns",
        [QPU_HAZARD_DMA_SETUP] = "a DMA set-up has a reserved width or bit",
        [QPU_HAZARD_DMA_SHARED_SETUP] = "a DMA transfer would differ if QPUs shared the set-up registers",
        [QPU_HAZARD_VPM_SETUP] = "a VPM set-up has a reserved size or kind",
        [QPU_HAZARD_BRANCH_REGISTER] = "branches by a register that differs between elements",
        [QPU_HAZARD_BRANCH_FLAGS] = "uses flags that a taken branch by an odd register may have changed",
        [QPU_HAZARD_PACK_TARGET] = "packs part of a word into something that is no register of file A",
        [QPU_HAZARD_NOTHING_READ] = "an ALU takes its input from a port that reads nothing",
        [QPU_HAZARD_NOTHING_WRITTEN] = "writes the result of an ALU that does nothing",
        [QPU_HAZARD_RESERVED] = "the instruction has a reserved operation, register, condition or mode",
        [QPU_HAZARD_UNSUPPORTED] = "uses graphics hardware, threads or breakpoints, which are not modelled",
        [QPU_HAZARD_NO_MEMORY] = "the host's memory ran out",
    };
    return (unsigned)hazard < QPU_HAZARD_COUNT ? texts[hazard] : "unknown hazard";
}
