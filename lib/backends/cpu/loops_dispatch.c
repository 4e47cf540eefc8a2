/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the loops this processor runs best. */
#include "backends/cpu/loops.h"

const struct cpu_loops *penstock__cpu_loops(void)
{
#ifdef PENSTOCK_CPU_AVX2
    if (__builtin_cpu_supports("avx2"))
        return &penstock__cpu_loops_avx2;
#endif
    return &penstock__cpu_loops_plain;
}
