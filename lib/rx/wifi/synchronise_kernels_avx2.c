/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The search for the long training field built for AVX2. */
#define SYNC_KERNELS penstock__sync_kernels_avx2
#include "rx/wifi/synchronise_kernels.c"
