/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Transforms by vectors of 8, for AVX2. */
#define WIDTH 8
#include "backends/cpu/natural_order_passes.h"

const struct natural_order_kernels penstock__natural_order_kernels_avx2 = {
    .name = "AVX2", .width = WIDTH, .worthwhile = 8192, .forward = forward, .reverse = reverse};
