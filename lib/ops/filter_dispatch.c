/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the filter's loops this processor runs best. */
#include "ops/filter_kernels.h"

const struct filter_kernels *penstock__filter_kernels(void)
{
#ifdef PENSTOCK_FILTER_AVX2
    if (__builtin_cpu_supports("avx2"))
        return &penstock__filter_kernels_avx2;
#endif
    return &penstock__filter_kernels_plain;
}
