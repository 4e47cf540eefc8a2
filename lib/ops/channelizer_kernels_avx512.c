/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sums of the filter bank built for AVX-512. */
#define CHANNELIZER_KERNELS penstock__channelizer_kernels_avx512
#define VECTOR_FLOATS       16
#define FRAMES              8
#define NAME                "AVX-512"
#include "ops/channelizer_kernels.c"
