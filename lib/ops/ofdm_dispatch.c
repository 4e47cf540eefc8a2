/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the OFDM loops this processor runs best. */
#include "ops/ofdm_kernels.h"

const struct ofdm_kernels *penstock__ofdm_kernels(void)
{
#ifdef PENSTOCK_OFDM_AVX2
    if (__builtin_cpu_supports("avx2"))
        return &penstock__ofdm_kernels_avx2;
#endif
    return &penstock__ofdm_kernels_plain;
}
