/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The filter bank's frames taken apart, built for AVX2 and FMA. */
#define CHANNELIZER_KERNELS penstock__channelizer_kernels_avx2
#define VECTOR_FLOATS       8
#define NAME                "AVX2"
#include "ops/channelizer/channelizer_kernels.c"
