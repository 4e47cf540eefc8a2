/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sums of the filter bank built for AVX2 and FMA. */
#include <immintrin.h>

#define CHANNELIZER_KERNELS penstock__channelizer_kernels_avx2
#define VECTOR_FLOATS       8
#define FRAMES              4
#define NAME                "AVX2"
#define FUSED(a, b, c)      ((vector)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#include "ops/channelizer_kernels.c"
