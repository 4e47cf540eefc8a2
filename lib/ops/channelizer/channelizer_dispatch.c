/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the filter bank's kernels this processor runs best. */
#include "ops/channelizer/channelizer_kernels.h"
#include "vector/instructions.h"

const struct channelizer_kernels *penstock__channelizer_kernels(void)
{
    const struct channelizer_kernels *avx512 = AVX512_BUILD(&penstock__channelizer_kernels_avx512);
    const struct channelizer_kernels *avx2 = AVX2_BUILD(&penstock__channelizer_kernels_avx2);
    return avx512 ? avx512 : avx2 ? avx2 : &penstock__channelizer_kernels_plain;
}
