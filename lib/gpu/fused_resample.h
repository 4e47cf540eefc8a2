/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A resampler's outputs in one kernel, kernels/resample.cl: its configuration and source. */
#ifndef PENSTOCK_GPU_FUSED_RESAMPLE_H
#define PENSTOCK_GPU_FUSED_RESAMPLE_H

#include "gpu/fused_kernel.h"

/* PENSTOCK_ERR_UNSUPPORTED, with text, for what the kernel does not do. */
int penstock__fused_resample_check(const struct penstock_resample_problem *resample, const char *device);

/* Variant 0 has samples in local memory where they fit, variant 1 reads them where they are. */
int penstock__fused_resample_config(struct fused_kernel *self, const struct penstock_resample_problem *resample,
                                    const struct gpu_limits *limits, unsigned variant);
int penstock__fused_resample_source(struct gpu_text *text, const penstock_context *context,
                                    const struct fused_kernel *self, const struct penstock_resample_problem *resample);

#endif
