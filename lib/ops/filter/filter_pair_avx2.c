/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Convolution by vectors of 8, for AVX2 and FMA. */
#define WIDTH 8
#include "ops/filter/filter_pair_passes.h"

const struct pair_kernels penstock__pair_kernels_avx2 = {
    .name = "AVX2", .width = WIDTH, .forward = forward, .reverse = reverse};
