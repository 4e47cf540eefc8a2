/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The generated part of a kernel's source: every size, radix and offset of one plan as constants. */
#ifndef PENSTOCK_GPU_PROLOGUE_H
#define PENSTOCK_GPU_PROLOGUE_H

#include "gpu/table.h"
#include "gpu/text.h"

/* Appends the definitions that kernels/fft.cl is written in. Errors are left in `text`. */
void penstock__gpu_prologue(struct gpu_text *text, const struct gpu_shape *shape, const struct gpu_table *table,
                            const struct penstock_fft_problem *fft);

#endif
