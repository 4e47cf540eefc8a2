/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What is generated of a code for kernels/viterbi.cl. */
#ifndef PENSTOCK_GPU_VITERBI_CODE_H
#define PENSTOCK_GPU_VITERBI_CODE_H

#include "gpu/viterbi.h"

/* Metrics' history, base and floor; false where 16 bits do not hold them. */
bool penstock__gpu_viterbi_range(struct gpu_viterbi *self, const struct penstock_viterbi_problem *viterbi);

/* STEP_0 and so on. */
void penstock__gpu_viterbi_steps(struct gpu_text *text, const struct gpu_viterbi *self,
                                 const struct penstock_viterbi_problem *viterbi);

#endif
