/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The OFDM loops built for AVX2. */
#define OFDM_KERNELS penstock__ofdm_kernels_avx2
#include "ops/ofdm/ofdm_kernels.c"
