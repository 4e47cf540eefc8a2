/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of low-density parity-check codes on the CPU. */
#ifndef PENSTOCK_CPU_LDPC_H
#define PENSTOCK_CPU_LDPC_H

#include "backends/cpu/cpu.h"
#include "fec/ldpc_lanes.h"

struct cpu_ldpc {
    const struct penstock_ldpc_problem *problem;
    const struct penstock__ldpc_kernel *kernel;
};

int penstock__cpu_ldpc_init(struct penstock_plan_state *plan, unsigned variant);
int penstock__cpu_ldpc_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                               const struct penstock_job *job);

#endif
