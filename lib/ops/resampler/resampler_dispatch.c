/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of a resampler's sums this processor runs best. */
#include "ops/resampler/resampler_kernels.h"
#include "vector/instructions.h"

const struct resampler_kernels *penstock__resampler_kernels(void)
{
    const struct resampler_kernels *avx512 = AVX512_BUILD(&penstock__resampler_kernels_avx512);
    const struct resampler_kernels *avx2 = AVX2_BUILD(&penstock__resampler_kernels_avx2);
    return avx512 ? avx512 : avx2 ? avx2 : &penstock__resampler_kernels_plain;
}
