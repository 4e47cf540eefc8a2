/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Averaged power spectra in one kernel, kernels/spectrum.cl: its configuration, source and table. */
#ifndef PENSTOCK_GPU_FUSED_SPECTRUM_H
#define PENSTOCK_GPU_FUSED_SPECTRUM_H

#include "gpu/fused_kernel.h"

/* Mean power over at least two frames, by a plain forward transform of a power of two. */
bool penstock__fused_spectrum_fits(const struct penstock_fft_problem *fft);

int penstock__fused_spectrum_config(struct fused_kernel *self, const struct penstock_fft_problem *fft,
                                    const struct gpu_limits *limits);
int penstock__fused_spectrum_source(struct gpu_text *text, const penstock_context *context,
                                    const struct fused_kernel *self, const struct penstock_fft_problem *fft);
int penstock__fused_spectrum_table(float **values, size_t *count, const struct fused_kernel *self,
                                   const struct penstock_fft_problem *fft);

#endif
