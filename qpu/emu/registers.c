/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The register address map: what reading and writing an address does. */
#include <string.h>

#include "state.h"

static void fill(struct qpu_lanes *lanes, uint32_t value)
{
    for (int i = 0; i < QPU_LANES; i++)
        lanes->v[i] = value;
}

static uint32_t next_uniform(struct qpu_emulator *e, struct qpu *q)
{
    unsigned slots = 0;
    uint32_t value = qpu_emu__cached_word(e, q, CACHE_UNIFORM, q->uniforms, &slots);
    q->uniforms += 4;
    return value;
}

/* Reading no register gives, four times, elements 12 to 15 of what the port read last. */
static void repeat_last_quad(struct qpu_lanes *port)
{
    for (int i = 0; i < 12; i++)
        port->v[i] = port->v[12 + i % 4];
}

static uint32_t busy(const struct qpu_emulator *e, const struct dma_port *port)
{
    return port->done > e->clock;
}

static void read_port(struct qpu_emulator *e, struct qpu *q, int port, unsigned address)
{
    struct qpu_lanes *to = &q->port[port];
    if (address < 32) {
        /* a register is not yet there for the instruction after the one that writes it */
        *to = q->wrote[port] == (int)address ? q->before[port] : q->file[port][address];
        return;
    }
    switch (address) {
    case QPU_READ_UNIFORM:
        fill(to, next_uniform(e, q));
        break;
    case QPU_READ_ELEMENT_OR_QPU:
        for (int i = 0; i < QPU_LANES; i++)
            to->v[i] = port == 0 ? (uint32_t)i : q->number;
        break;
    case QPU_READ_NOTHING:
        repeat_last_quad(to);
        break;
    case QPU_READ_VPM:
        qpu_emu__vpm_pop(e, q, to);
        break;
    case QPU_READ_VPM_BUSY: /* with late transfers, asking is waiting */
        qpu_emu__dma_finish(e, q, port == 1);
        fill(to, busy(e, port == 1 ? &q->store : &q->load));
        break;
    case QPU_READ_VPM_WAIT:
        (port == 1 ? &q->store : &q->load)->unfinished = false;
        fill(to, 0);
        break;
    case QPU_READ_MUTEX:
        e->mutex = (int)q->number;
        fill(to, 0);
        break;
    default:
        fill(to, 0);
    }
}

void qpu_emu__read_ports(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    bool shared = op->port_a == op->port_b && (op->port_a == QPU_READ_UNIFORM || op->port_a == QPU_READ_VPM);
    if (op->port_a != QPU_READ_NOTHING || op->reads_a)
        read_port(e, q, 0, op->port_a);
    if (shared) /* both ports see one word */
        q->port[1] = q->port[0];
    else if (op->port_b != QPU_READ_NOTHING || (op->reads_b && op->in.signal != QPU_SIGNAL_SMALL_IMMEDIATE))
        read_port(e, q, 1, op->port_b);
}

static void masked_copy(struct qpu_lanes *to, const struct qpu_lanes *from, unsigned mask)
{
    if (mask == 0xffff) {
        *to = *from;
        return;
    }
    for (int i = 0; i < QPU_LANES; i++)
        to->v[i] = mask >> i & 1 ? from->v[i] : to->v[i];
}

/* From file A's side the first element of each quad goes to its quad, from file B's element 0 to all. */
static void write_r5(struct qpu *q, int file, const struct qpu_lanes *value, unsigned mask)
{
    struct qpu_lanes spread;
    for (int i = 0; i < QPU_LANES; i++)
        spread.v[i] = value->v[file == 0 ? i & ~3 : 0];
    masked_copy(&q->r[5], &spread, mask);
}

static void write_setup(struct qpu_emulator *e, struct qpu *q, int file, uint32_t setup)
{
    struct dma_port *port = file == 0 ? &q->load : &q->store;
    struct dma_setup *shared = file == 0 ? &e->shared_load : &e->shared_store;
    bool pitch = file == 0 ? setup >> 28 == 9 : setup >> 30 == 3;
    if (!(setup >> 30)) {
        if (file == 0)
            qpu_emu__vpm_setup_read(e, q, setup);
        else
            qpu_emu__vpm_setup_write(e, q, setup);
    } else if (setup >> 30 == 1) {
        qpu_emu__hazard(e, q, QPU_HAZARD_VPM_SETUP, setup);
    } else if (pitch) {
        port->setup.pitch = shared->pitch = setup;
    } else {
        port->setup.block = shared->block = setup;
    }
}

static void release_mutex(struct qpu_emulator *e, struct qpu *q)
{
    if (e->mutex != (int)q->number)
        qpu_emu__hazard(e, q, QPU_HAZARD_MUTEX_NOT_HELD, 0);
    e->mutex = -1;
}

static void start_sfu(struct qpu *q, unsigned function, const struct qpu_lanes *value)
{
    for (int i = 0; i < QPU_LANES; i++)
        q->sfu.v[i] = qpu_emu__sfu(function, value->v[i]);
    q->sfu_at = q->count;
}

static void write_peripheral(struct qpu_emulator *e, struct qpu *q, int file, unsigned address,
                             const struct qpu_lanes *value)
{
    switch (address) {
    case QPU_WRITE_TMU_NOSWAP:
        q->noswap = value->v[0];
        q->noswap_at = q->count;
        break;
    case QPU_WRITE_HOST_INTERRUPT:
        if (value->v[0])
            e->interrupts |= UINT32_C(1) << q->number;
        break;
    case QPU_WRITE_UNIFORMS_ADDRESS:
        q->next_uniforms = value->v[0];
        q->uniforms_at = q->count;
        break;
    case QPU_WRITE_VPM:
        qpu_emu__vpm_push(e, q, value);
        break;
    case QPU_WRITE_VPM_SETUP:
        write_setup(e, q, file, value->v[0]);
        break;
    case QPU_WRITE_VPM_ADDRESS:
        qpu_emu__dma_start(e, q, file == 1, value->v[0]);
        break;
    case QPU_WRITE_MUTEX:
        release_mutex(e, q);
        break;
    case QPU_WRITE_SFU_RECIP:
    case QPU_WRITE_SFU_RECIPSQRT:
    case QPU_WRITE_SFU_EXP:
    case QPU_WRITE_SFU_LOG:
        start_sfu(q, address - QPU_WRITE_SFU_RECIP, value);
        break;
    case QPU_WRITE_TMU0_S:
    case QPU_WRITE_TMU1_S:
        qpu_emu__tmu_request(e, q, address == QPU_WRITE_TMU1_S, value);
        break;
    default:
        break;
    }
}

void qpu_emu__write(struct qpu_emulator *e, struct qpu *q, int file, unsigned address, const struct qpu_lanes *value,
                    unsigned mask)
{
    if (address < 32) {
        q->wrote[file] = (int)address;
        q->before[file] = q->file[file][address];
        masked_copy(&q->file[file][address], value, mask);
    } else if (address <= QPU_WRITE_R3) {
        q->wrote_accumulators |= 1u << (address - QPU_WRITE_R0);
        masked_copy(&q->r[address - QPU_WRITE_R0], value, mask);
    } else if (address == QPU_WRITE_R5) {
        q->wrote_accumulators |= 1u << QPU_MUX_R5;
        write_r5(q, file, value, mask);
    } else {
        write_peripheral(e, q, file, address, value);
    }
}
