/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Conversion built for AVX2. */
#define CONDITION penstock__condition_avx2
#include "rx/condition_kernels.c"
