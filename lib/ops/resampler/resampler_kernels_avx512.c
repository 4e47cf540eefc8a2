/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sums of a resampler built for AVX-512. */
#define RESAMPLER_KERNELS penstock__resampler_kernels_avx512
#define VECTOR_FLOATS     16
#define TOGETHER          4
#define ALIKE             8
#define NAME              "AVX-512"
#include "ops/resampler/resampler_kernels.c"
