/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * DMA between VPM and memory: when transfers happen and how long they take. One load and one store are made at a
 * time; later ones queue. Whether the hardware has set-up registers for each QPU or once for all is not known, so a
 * program for which that makes a difference is reported.
 */
#include "state.h"

static void transfer_now(struct qpu_emulator *e, struct qpu *q, bool store, const struct dma_transfer *transfer)
{
    struct dma_port *port = store ? &q->store : &q->load;
    uint64_t *free_at = store ? &e->store_free : &e->load_free;
    uint64_t start = *free_at > e->clock ? *free_at : e->clock;
    *free_at = start + (store ? qpu_emu__dma_store(e, q, transfer) : qpu_emu__dma_load(e, q, transfer));
    port->done = *free_at;
}

void qpu_emu__dma_finish(struct qpu_emulator *e, struct qpu *q, bool store)
{
    struct dma_port *port = store ? &q->store : &q->load;
    for (unsigned i = 0; i < port->late_count; i++)
        transfer_now(e, q, store, &port->late[i]);
    port->late_count = 0;
}

void qpu_emu__dma_start(struct qpu_emulator *e, struct qpu *q, bool store, uint32_t address)
{
    struct dma_port *port = store ? &q->store : &q->load;
    const struct dma_setup *shared = store ? &e->shared_store : &e->shared_load;
    struct dma_transfer transfer = {port->setup, address};
    if (port->setup.block != shared->block || port->setup.pitch != shared->pitch)
        qpu_emu__hazard(e, q, QPU_HAZARD_DMA_SHARED_SETUP, address);
    if (store)
        qpu_emu__vpm_land(e, q);
    port->unfinished = true;
    if (!port->late) {
        transfer_now(e, q, store, &transfer);
        return;
    }
    if (port->late_count == DMA_DEPTH)
        qpu_emu__dma_finish(e, q, store);
    port->late[port->late_count++] = transfer;
}
