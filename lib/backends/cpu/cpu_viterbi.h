/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of convolutional codes on the CPU. */
#ifndef PENSTOCK_CPU_VITERBI_H
#define PENSTOCK_CPU_VITERBI_H

#include "backends/cpu/cpu.h"
#include "fec/viterbi_lanes.h"

struct cpu_viterbi {
    const struct penstock_viterbi_problem *problem;
    const struct penstock__viterbi_kernel *kernel;
    struct penstock__trellis trellis;
    bool plain; /* soft bits go to the decoder as they are in memory */
    bool wifi;  /* the code that fec/viterbi.h decodes */
};

int penstock__cpu_viterbi_init(struct penstock_plan_state *plan, unsigned variant);
int penstock__cpu_viterbi_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                  const struct penstock_job *job);

/* Steps that the decoder goes through for a block of so many bits. */
static inline size_t penstock__cpu_viterbi_walk(const struct penstock_viterbi_problem *problem, size_t bits)
{
    return penstock__viterbi_steps(problem, bits) + 2 * problem->depth;
}

/* The soft bits of all of these steps: `in` holds those that were sent, in the problem's format. */
void penstock__cpu_viterbi_load(int8_t *soft, const struct penstock_viterbi_problem *problem, const void *in,
                                size_t bits);

/* A block's result from the decoder's bits, packed with the first in the least significant one. */
void penstock__cpu_viterbi_store(uint8_t *out, const struct penstock_viterbi_problem *problem, const uint8_t *packed,
                                 size_t bits);

#endif
