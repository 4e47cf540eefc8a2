/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sums of a resampler built for AVX-512. */
#include <immintrin.h>

#define RESAMPLER_KERNELS penstock__resampler_kernels_avx512
#define VECTOR_FLOATS     16
#define TOGETHER          4
#define NAME              "AVX-512"
#define FUSED(a, b, c)    ((vector)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#include "ops/resampler_kernels.c"
