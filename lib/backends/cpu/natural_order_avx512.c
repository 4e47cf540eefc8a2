/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Transforms by vectors of 16, for AVX-512. */
#define WIDTH 16
#include "backends/cpu/natural_order_passes.h"

const struct natural_order_kernels penstock__natural_order_kernels_avx512 = {
    .name = "AVX-512", .width = WIDTH, .worthwhile = VECTOR_FFT_SHORTEST, .forward = forward, .reverse = reverse};
