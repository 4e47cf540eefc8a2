/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops built for AVX2. */
#define CPU_LOOPS penstock__cpu_loops_avx2
#include "backends/cpu/loops.c"
