/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of a frame built for AVX2. */
#define FRAME_KERNELS penstock__frame_kernels_avx2
#include "rx/wifi/frame_kernels.c"
