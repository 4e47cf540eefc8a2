/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Two transforms abreast, for AVX2. */
#define WIDTH 8
#include "backends/cpu/abreast_passes.h"

const struct abreast_kernels penstock__abreast_kernels_avx2 = {
    .name = "AVX2", .together = TOGETHER, .worthwhile = ABREAST_SHORTEST, .forward = forward, .reverse = reverse};
