/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The table of floats that a kernel reads: twiddle factors, half-length factors of real transforms, window. */
#ifndef PENSTOCK_GPU_TABLE_H
#define PENSTOCK_GPU_TABLE_H

#include "gpu/shape.h"

/* Offsets in floats. Factors are pairs: cosine, sine. */
struct gpu_table {
    float *values;
    size_t count;
    unsigned stage_at[GPU_MAX_STAGES]; /* exp(-2 pi i k j / (radix span)) at 2 ((k - 1) span + j), k = 1 .. radix-1 */
    unsigned half_at;                  /* exp(2 pi i k / n), k < n / 2, of a real transform of length n */
    unsigned window_at;
    unsigned window_kind; /* 0: none, 1: n factors, 2: n pairs, window times shift */
};

int penstock__gpu_table(struct gpu_table *table, const struct gpu_shape *shape, const struct penstock_fft_problem *fft);
void penstock__gpu_table_free(struct gpu_table *table);

#endif
