/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Convolution by vectors of 16, for AVX-512. */
#define WIDTH 16
#include "ops/filter/filter_pair_passes.h"

const struct pair_kernels penstock__pair_kernels_avx512 = {
    .name = "AVX-512", .width = WIDTH, .forward = forward, .reverse = reverse};
