/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plain complex transforms as one kernel: kernels/plain.cl. */
#ifndef PENSTOCK_GPU_FUSED_PLAIN_H
#define PENSTOCK_GPU_FUSED_PLAIN_H

#include "gpu/fused_kernel.h"

/* Whether the kernel does this and was found faster there than kernels/fft.cl. */
bool penstock__fused_plain_fits(const struct penstock_fft_problem *fft, const struct gpu_limits *limits);
int penstock__fused_plain_config(struct fused_kernel *self, const struct penstock_fft_problem *fft,
                                 const struct gpu_limits *limits);
int penstock__fused_plain_source(struct gpu_text *text, const penstock_context *context,
                                 const struct fused_kernel *self, const struct penstock_fft_problem *fft);
int penstock__fused_plain_table(float **values, size_t *count, const struct fused_kernel *self,
                                const struct penstock_fft_problem *fft);

#endif
