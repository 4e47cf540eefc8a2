/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the processor has, of what the operating system saves and restores. */
#include "vector/instructions.h"

#if defined(__x86_64__) || defined(__i386__)

bool penstock__processor_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

bool penstock__processor_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma");
}

#else

bool penstock__processor_has_avx2(void)
{
    return false;
}

bool penstock__processor_has_avx512(void)
{
    return false;
}

#endif
