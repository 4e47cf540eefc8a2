/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sums of a resampler built for AVX2 with its multiply-add. */
#include <immintrin.h>

#define RESAMPLER_KERNELS penstock__resampler_kernels_avx2
#define VECTOR_FLOATS     8
#define TOGETHER          2
#define NAME              "AVX2"
#define FUSED(a, b, c)    ((vector)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#include "ops/resampler_kernels.c"
