/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Four transforms interleaved, for AVX-512. */
#define WIDTH 16
#include "backends/cpu/interleaved_passes.h"

const struct interleaved_kernels penstock__interleaved_kernels_avx512 = {.name = "AVX-512",
                                                                         .together = TOGETHER,
                                                                         .worthwhile = INTERLEAVED_SHORTEST,
                                                                         .forward = forward,
                                                                         .reverse = reverse};
