/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The filter bank's frames taken apart, built for AVX-512. */
#define CHANNELIZER_KERNELS penstock__channelizer_kernels_avx512
#define VECTOR_FLOATS       16
#define NAME                "AVX-512"
#include "ops/channelizer/channelizer_kernels.c"
