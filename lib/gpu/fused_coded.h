/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernels of coded symbols, kernels/coded.cl. */
#ifndef PENSTOCK_GPU_FUSED_CODED_H
#define PENSTOCK_GPU_FUSED_CODED_H

#include "gpu/fused_kernel.h"

/* As the functions of fused_kernel.h. */
int penstock__fused_coded_check(const struct penstock_coded_problem *coded, const char *device);
int penstock__fused_coded_config(struct fused_kernel *self, const struct penstock_coded_problem *coded,
                                 const struct gpu_limits *limits, unsigned variant);
int penstock__fused_coded_source(struct gpu_text *text, const penstock_context *context,
                                 const struct fused_kernel *self, const struct penstock_coded_problem *coded);
int penstock__fused_coded_table(float **values, size_t *count, const struct penstock_coded_problem *coded);

#endif
