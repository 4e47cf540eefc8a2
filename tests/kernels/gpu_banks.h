/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Local memory's banks: 32 of 4 bytes each, as GPUs have them. */
#ifndef PENSTOCK_TEST_GPU_BANKS_H
#define PENSTOCK_TEST_GPU_BANKS_H

#include "gpu/decomposition.h"
#include "gpu/fused_kinds.h"

/*
 * How many of the work-items that access local memory at once meet in one bank at most, over the exchanges between a
 * transform's stages, of a spectrum that is unpacked and of columns that leave as rows: 1 where there are no conflicts,
 * as on a CPU or without exchanges. 32 work-items access 4 bytes each at once, or 16 of them 8.
 */
unsigned gpu_bank_ways(const struct gpu_launch_config *config);

/* The same of pass `index` of a plan, with what its values do on their way to an image. */
unsigned gpu_pass_bank_ways(const struct gpu_decomposition *decomposition, unsigned index);

/* The same of a transform as a part of a larger kernel. */
unsigned fused_bank_ways(const struct fused_config *config);

/* Of kernels/ofdm.cl's transform, or of its soft bits, if they meet more often. */
unsigned fused_ofdm_bank_ways(const struct fused_kernel *self, const struct penstock_ofdm_problem *ofdm);

#endif
