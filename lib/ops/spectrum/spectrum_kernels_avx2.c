/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The spectrum's loops built for AVX2. */
#define SPECTRUM_KERNELS penstock__spectrum_kernels_avx2
#include "ops/spectrum/spectrum_kernels.c"
