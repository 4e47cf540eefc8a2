/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The power of transforms by vectors of 8, for AVX2. */
#define WIDTH 8
#include "backends/cpu/power_passes.h"

const struct power_kernels penstock__power_kernels_avx2 = {
    .name = "AVX2", .width = WIDTH, .worthwhile = 8192, .add = add, .mean = mean};
