/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Overlap-save in one kernel, kernels/filter.cl: its configuration and source. */
#ifndef PENSTOCK_GPU_FUSED_FILTER_H
#define PENSTOCK_GPU_FUSED_FILTER_H

#include "gpu/fused_kernel.h"

int penstock__fused_filter_config(struct fused_kernel *self, const struct penstock_filter_problem *filter,
                                  const struct gpu_limits *limits, unsigned variant);
int penstock__fused_filter_source(struct gpu_text *text, const penstock_context *context,
                                  const struct fused_kernel *self, const struct penstock_filter_problem *filter);

#endif
