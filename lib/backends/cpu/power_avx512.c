/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The power of transforms by vectors of 16, for AVX-512. */
#define WIDTH 16
#include "backends/cpu/power_passes.h"

const struct power_kernels penstock__power_kernels_avx512 = {
    .name = "AVX-512", .width = WIDTH, .worthwhile = POWER_SHORTEST, .add = add, .mean = mean};
