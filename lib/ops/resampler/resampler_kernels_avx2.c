/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sums of a resampler built for AVX2 with its multiply-add. */
#define RESAMPLER_KERNELS penstock__resampler_kernels_avx2
#define VECTOR_FLOATS     8
#define TOGETHER          2
#define ALIKE             4
#define NAME              "AVX2"
#include "ops/resampler/resampler_kernels.c"
