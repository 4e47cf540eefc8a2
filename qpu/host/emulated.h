/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A Raspberry Pi that is not there: firmware, GPU memory and V3D registers around the emulator. Host code runs on it
 * as on the board, and tests make it refuse, run out and hang. Time is its own, so that time-outs need no waiting.
 */
#ifndef PENSTOCK_QPU_EMULATED_H
#define PENSTOCK_QPU_EMULATED_H

#include "emu/emulator.h"
#include "platform.h"

/* What a machine had left when it was closed, and what it did. */
struct qpu_emulated_report {
    unsigned allocations, locks, maps; /* not given back */
    bool enabled;
    unsigned calls;                /* of the platform, for sweeps */
    unsigned runs;                 /* starts of one or more programs at a time */
    uint64_t launches;             /* programs started */
    uint64_t instructions;         /* of all QPUs */
    uint64_t critical_path;        /* the busiest QPU's instructions, added up over the runs */
    struct qpu_trap trap;          /* of the last run that did not end */
    enum qpu_outcome last_outcome; /* of the last run */
};

/* Zeroed: a Raspberry Pi 3 where all is well. */
struct qpu_emulated_options {
    const char *compatible; /* of the device tree, as "brcm,bcm2711"; "" where it has none */
    const char *model;
    uint32_t revision;
    size_t gpu_memory_bytes; /* 0: 128 MiB */
    int mailbox_errno;       /* what opening /dev/vcio gives */
    int memory_errno;        /* what opening /dev/mem gives */
    bool kms;                /* the display driver owns the V3D */
    bool silent;             /* registers read 0xdeadbeef */
    uint32_t reserved_qpus;  /* so many are not for user programs */
    uint32_t vpm_units;      /* 0: 16 */
    unsigned fail_call;      /* this call of mailbox, map or open_registers fails, from 1 on; 0: none */
    bool hang;               /* programs never end */
    unsigned hang_after;     /* no more programs end after so many runs; 0: all do */
    struct qpu_emulator_options emulator;
    struct qpu_emulated_report *report; /* NULL or filled in as it runs; outlives the platform */
};

/* `self` is NULL where memory is short. */
struct qpu_platform qpu_platform_emulated(const struct qpu_emulated_options *options);

#endif
