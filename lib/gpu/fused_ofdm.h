/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation in one kernel, kernels/ofdm.cl: its configuration, source and table. */
#ifndef PENSTOCK_GPU_FUSED_OFDM_H
#define PENSTOCK_GPU_FUSED_OFDM_H

#include "gpu/fused_kernel.h"

/* The kernels: with a list of symbols; without; and without, for small levels. */
enum { FUSED_OFDM_LISTED, FUSED_OFDM_EVEN, FUSED_OFDM_NARROW, FUSED_OFDM_KERNELS };
extern const char *const penstock__fused_ofdm_names[FUSED_OFDM_KERNELS];

/* Whether it does such problems at all. */
#define FUSED_OFDM_VARIANTS 2
static inline bool penstock__fused_ofdm_fits(const struct penstock_ofdm_problem *ofdm)
{
    return !ofdm->mixed && ofdm->n >= FUSED_LEAST && ofdm->n <= FUSED_MOST && !(ofdm->n & (ofdm->n - 1));
}

int penstock__fused_ofdm_config(struct fused_kernel *self, const struct penstock_ofdm_problem *ofdm,
                                const struct gpu_limits *limits, unsigned variant, bool warps);
int penstock__fused_ofdm_source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                                const struct penstock_ofdm_problem *ofdm);
int penstock__fused_ofdm_table(float **values, size_t *count, const struct fused_kernel *self,
                               const struct penstock_ofdm_problem *ofdm);

/* What penstock__fused_bank_ways() of gpu/banks.h says of its transform, or of its soft bits, if they meet more often;
 * 0 without memory. */
unsigned penstock__fused_ofdm_bank_ways(const struct fused_kernel *self, const struct penstock_ofdm_problem *ofdm);

#endif
