/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Weighted sums of rows built for AVX-512. */
#include <immintrin.h>

#define FOLD_KERNELS        penstock__fold_avx512
#define VECTOR_FLOATS       16
#define FRAMES              8
#define NAME                "AVX-512"
#define HALF_FLOATS         8
#define HALF_FUSED(a, b, c) ((half_vector)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#include "vector/fold.c"
