/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the filter's loops this processor runs best. */
#include "ops/filter/filter_kernels.h"
#include "vector/instructions.h"

const struct filter_kernels *penstock__filter_kernels(void)
{
    const struct filter_kernels *avx2 = AVX2_BUILD(&penstock__filter_kernels_avx2);
    return avx2 ? avx2 : &penstock__filter_kernels_plain;
}
