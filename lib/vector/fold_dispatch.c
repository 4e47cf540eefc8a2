/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the weighted sums this processor runs best. */
#include "vector/fold.h"
#include "vector/instructions.h"

const struct fold_kernels *penstock__fold_kernels(void)
{
    const struct fold_kernels *avx512 = AVX512_BUILD(&penstock__fold_avx512), *avx2 = AVX2_BUILD(&penstock__fold_avx2);
    return avx512 ? avx512 : avx2 ? avx2 : &penstock__fold_plain;
}
