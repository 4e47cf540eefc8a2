/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the loops this processor runs best. */
#include "backends/cpu/loops.h"
#include "vector/instructions.h"

const struct cpu_loops *penstock__cpu_loops(void)
{
    const struct cpu_loops *avx2 = AVX2_BUILD(&penstock__cpu_loops_avx2);
    return avx2 ? avx2 : &penstock__cpu_loops_plain;
}
