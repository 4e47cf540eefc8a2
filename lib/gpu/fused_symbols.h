/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation of any length in one kernel, kernels/symbols.cl: its configuration, source and table. */
#ifndef PENSTOCK_GPU_FUSED_SYMBOLS_H
#define PENSTOCK_GPU_FUSED_SYMBOLS_H

#include "gpu/fused_kernel.h"

/* Variants are those of transforms. PENSTOCK_ERR_UNSUPPORTED where the device has too little local memory. */
int penstock__fused_symbols_config(struct fused_kernel *self, const struct penstock_ofdm_problem *ofdm,
                                   const struct gpu_limits *limits, unsigned variant);
int penstock__fused_symbols_source(struct gpu_text *text, const penstock_context *context,
                                   const struct fused_kernel *self, const struct penstock_ofdm_problem *ofdm);
int penstock__fused_symbols_table(float **values, size_t *count, const struct fused_kernel *self,
                                  const struct penstock_ofdm_problem *ofdm);

#endif
