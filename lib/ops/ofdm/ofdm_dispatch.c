/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the OFDM loops this processor runs best. */
#include "ops/ofdm/ofdm_kernels.h"
#include "vector/instructions.h"

const struct ofdm_kernels *penstock__ofdm_kernels(void)
{
    const struct ofdm_kernels *avx2 = AVX2_BUILD(&penstock__ofdm_kernels_avx2);
    return avx2 ? avx2 : &penstock__ofdm_kernels_plain;
}
