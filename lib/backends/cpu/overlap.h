/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Overlapped transforms: sums over the rows before. */
#ifndef PENSTOCK_CPU_OVERLAP_H
#define PENSTOCK_CPU_OVERLAP_H

#include "backends/cpu/cpu.h"
#include "vector/fold.h"

struct cpu_overlap {
    struct penstock_fft_problem row;
    struct cpu_plan rows; /* of such ones */
    struct fold_weights weights;
    const struct fold_kernels *kernels;
    size_t hop;
    size_t stride;        /* values from a row to the next one: it goes on for a hop, as its transform has period n */
    size_t chunk;         /* frames whose rows a thread keeps at a time */
    size_t rows_bytes;    /* of these, and those before them; a multiple of 64 */
    size_t scratch_bytes; /* that the stages need, likewise */
};

int penstock__cpu_overlap_init(struct penstock_plan_state *plan, unsigned variant);
void penstock__cpu_overlap_free(struct penstock_plan_state *plan);
int penstock__cpu_overlap_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                  const struct penstock_job *job);

#endif
