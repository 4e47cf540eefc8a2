/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the filter bank's sums this processor runs best. */
#include "ops/channelizer_kernels.h"

const struct channelizer_kernels *penstock__channelizer_kernels(void)
{
#ifdef PENSTOCK_CHANNELIZER_X86
    if (__builtin_cpu_supports("avx512f"))
        return &penstock__channelizer_kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &penstock__channelizer_kernels_avx2;
#endif
    return &penstock__channelizer_kernels_plain;
}
