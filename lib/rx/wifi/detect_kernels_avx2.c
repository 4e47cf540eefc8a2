/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The detector's sums built for AVX2. */
#define DETECT_KERNELS penstock__detect_kernels_avx2
#include "rx/wifi/detect_kernels.c"
