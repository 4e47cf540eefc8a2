/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Weighted sums of rows built for AVX2 and FMA. */
#define FOLD_KERNELS  penstock__fold_avx2
#define VECTOR_FLOATS 8
#define FRAMES        4
#define NAME          "AVX2"
#include "vector/fold.c"
