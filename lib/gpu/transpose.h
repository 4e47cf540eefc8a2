/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames to their transposes: kernels/transpose.cl as a decomposition of one pass that computes nothing. */
#ifndef PENSTOCK_GPU_TRANSPOSE_H
#define PENSTOCK_GPU_TRANSPOSE_H

#include "gpu/table.h"

/* Of a problem that is `transposed`. */
int penstock__gpu_transpose_decomposition(struct gpu_decomposition *decomposition,
                                          const struct penstock_fft_problem *fft, const struct gpu_limits *limits);

int penstock__gpu_transpose_source(struct gpu_text *text, const penstock_context *context,
                                   const struct gpu_decomposition *decomposition, const struct gpu_table *table,
                                   const struct penstock_fft_problem *fft);

#endif
