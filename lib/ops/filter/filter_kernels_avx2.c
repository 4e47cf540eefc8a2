/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The filter's loops built for AVX2. */
#define FILTER_KERNELS penstock__filter_kernels_avx2
#include "ops/filter/filter_kernels.c"
