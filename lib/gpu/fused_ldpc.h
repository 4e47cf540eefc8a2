/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* LDPC decoding in one kernel, kernels/ldpc.cl: its configuration and source. */
#ifndef PENSTOCK_GPU_FUSED_LDPC_H
#define PENSTOCK_GPU_FUSED_LDPC_H

#include "gpu/fused_kernel.h"

/* PENSTOCK_ERR_UNSUPPORTED, with text, for what the kernel does not do. */
int penstock__fused_ldpc_check(const struct penstock_ldpc_problem *ldpc, const char *device);

/* The same where a word does not fit in the device's local memory or a base row's checks in a work-group. */
int penstock__fused_ldpc_config(struct fused_kernel *self, const struct penstock_ldpc_problem *ldpc,
                                const struct gpu_limits *limits, unsigned variant);
int penstock__fused_ldpc_source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                                const struct penstock_problem *problem);

#endif
