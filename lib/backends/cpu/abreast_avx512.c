/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Four transforms abreast, for AVX-512. */
#define WIDTH 16
#include "backends/cpu/abreast_passes.h"

const struct abreast_kernels penstock__abreast_kernels_avx512 = {
    .name = "AVX-512", .together = TOGETHER, .worthwhile = ABREAST_SHORTEST, .forward = forward, .reverse = reverse};
