/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Two transforms interleaved, for AVX2. */
#define WIDTH 8
#include "backends/cpu/interleaved_passes.h"

const struct interleaved_kernels penstock__interleaved_kernels_avx2 = {
    .name = "AVX2", .together = TOGETHER, .worthwhile = INTERLEAVED_SHORTEST, .forward = forward, .reverse = reverse};
