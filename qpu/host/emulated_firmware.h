/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the parts of the emulated machine share: emulated.c is board and V3D, emulated_firmware.c the mailbox. */
#ifndef PENSTOCK_QPU_EMULATED_FIRMWARE_H
#define PENSTOCK_QPU_EMULATED_FIRMWARE_H

#include "emulated.h"
#include "registers.h"

/* Bus address of the GPU memory, in the alias that the host asks for on models after the first. */
#define EMULATED_MEMORY UINT32_C(0xf0000000)

enum { EMULATED_BLOCKS = 512 };

struct emulated_job {
    uint32_t code, uniforms;
};

/* A handle is an index into the table, plus 1. */
struct emulated_block {
    size_t offset, bytes; /* bytes 0: free handle */
    bool locked;
};

struct emulated {
    struct qpu_emulated_options options;
    struct qpu_emulated_report *report, own_report;
    struct qpu_emulator *emulator;
    uint8_t *memory;
    size_t memory_bytes;
    struct emulated_block blocks[EMULATED_BLOCKS];
    bool enabled, l2_cleared, stuck, queue_error;
    uint32_t uniforms; /* V3D_SRQUA */
    struct emulated_job queue[V3D_SRQ_DEPTH];
    unsigned queued, ended;
    uint64_t clock_us;
};

/* Counts a call that can fail, and tells whether this is the one that does. */
bool emulated_call_fails(struct emulated *e);

/* Runs up to twelve programs to their end; false where one does not come there. */
bool emulated_run(struct emulated *e, const struct emulated_job *jobs, unsigned count);

int emulated_mailbox(void *self, uint32_t *message);

/* Fills in what was not given back. */
void emulated_firmware_report(struct emulated *e);

#endif
