/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What keeps an instruction from issuing: transfers, gathers, vectors, mutex and semaphores that are not there yet. */
#include "state.h"

static enum readiness wait_until(struct qpu_emulator *e, struct qpu *q, uint64_t clock, unsigned counter)
{
    if (clock <= e->clock)
        return READY;
    q->wake = clock;
    e->counters[counter] += clock - e->clock;
    return WAIT_UNTIL_WAKE;
}

static enum readiness transfer_done(struct qpu_emulator *e, struct qpu *q, bool store)
{
    qpu_emu__dma_finish(e, q, store);
    return wait_until(e, q, store ? q->store.done : q->load.done, store ? COUNT_STORE_STALL : COUNT_LOAD_STALL);
}

static enum readiness gather_there(struct qpu_emulator *e, struct qpu *q, unsigned tmu)
{
    const struct tmu_queue *queue = &q->tmu[tmu];
    if (!queue->count) {
        qpu_emu__hazard(e, q, QPU_HAZARD_TMU_EMPTY, tmu);
        return WAIT_FOREVER;
    }
    return wait_until(e, q, queue->request[queue->first].ready, COUNT_TMU_STALL);
}

static enum readiness port_ready(struct qpu_emulator *e, struct qpu *q, int port, unsigned address)
{
    switch (address) {
    case QPU_READ_VPM:
        if (q->vpm_read.left)
            return READY;
        qpu_emu__hazard(e, q, QPU_HAZARD_VPM_READ_WITHOUT_SETUP, 0);
        return WAIT_FOREVER;
    case QPU_READ_VPM_WAIT:
        return transfer_done(e, q, port == 1);
    case QPU_READ_MUTEX:
        return e->mutex < 0 ? READY : e->mutex == (int)q->number ? WAIT_FOREVER : WAIT_FOR_OTHERS;
    default:
        return READY;
    }
}

static enum readiness semaphore_ready(const struct qpu_emulator *e, uint32_t immediate)
{
    unsigned value = e->semaphores[immediate & 15];
    return value == (immediate >> 4 & 1 ? 0 : 15) ? WAIT_FOR_OTHERS : READY;
}

/* A queue that is full stays so: the QPU that could empty it is the one that waits. */
static enum readiness tmu_takes(const struct qpu *q, const struct operation *op)
{
    for (unsigned tmu = 0; tmu < 2; tmu++) {
        unsigned address = tmu ? QPU_WRITE_TMU1_S : QPU_WRITE_TMU0_S;
        if ((op->in.waddr_add == address || op->in.waddr_mul == address) && q->tmu[tmu].count == TMU_DEPTH)
            return WAIT_FOREVER;
    }
    return READY;
}

static enum readiness all_of(const enum readiness *parts, unsigned count)
{
    enum readiness worst = READY;
    for (unsigned i = 0; i < count; i++)
        worst = parts[i] > worst ? parts[i] : worst;
    return worst;
}

enum readiness qpu_emu__ready(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    enum readiness parts[5] = {READY, READY, READY, READY, READY};
    if (!op->may_wait)
        return READY;
    parts[0] = port_ready(e, q, 0, op->port_a);
    if (op->port_b != op->port_a || op->port_b == QPU_READ_VPM_WAIT)
        parts[1] = port_ready(e, q, 1, op->port_b);
    if (op->in.kind == QPU_SEMAPHORE)
        parts[2] = semaphore_ready(e, op->in.immediate);
    if (op->loads_r4)
        parts[3] = gather_there(e, q, op->in.signal == QPU_SIGNAL_LOAD_TMU1);
    if (op->writes_tmu)
        parts[4] = tmu_takes(q, op);
    return all_of(parts, 5);
}
