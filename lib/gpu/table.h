/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The table of floats that a kernel reads: twiddle factors, window, chirp and what else a pass multiplies by. */
#ifndef PENSTOCK_GPU_TABLE_H
#define PENSTOCK_GPU_TABLE_H

#include "gpu/decomposition.h"

/* Offsets in floats. Factors are pairs: cosine, sine. */
struct gpu_table {
    float *values;
    size_t count;
    unsigned stage_at[GPU_MAX_STAGES]; /* exp(-2 pi i k j / (radix span)) at 2 ((k - 1) span + j), k = 1 .. radix-1 */
    unsigned half_at;                  /* exp(2 pi i k / n), k < n / 2, of packed real samples */
    unsigned window_at;
    unsigned window_kind;                   /* 0: none, 1: n factors, 2: n pairs, window times shift times chirp */
    unsigned window_side;                   /* of kind 1: so many samples side by side have the same factor */
    unsigned fold_at;                       /* factors of a folded frame's samples */
    unsigned spectrum_at;                   /* of the convolution, total pairs */
    unsigned chirp_at;                      /* exp(-pi i k k / n), k < n */
    unsigned order_in_at, order_out_at;     /* Rader's order of samples and values, n - 1 numbers each */
    unsigned fine_at, fine_bits, coarse_at; /* between passes: exp(-2 pi i e / m), e = coarse 2^fine_bits + fine */
};

/* Where everything of pass `index` will be, without values: what a kernel's source depends on. */
void penstock__gpu_table_plan(struct gpu_table *table, const struct gpu_decomposition *decomposition, unsigned index,
                              const struct penstock_fft_problem *fft);

/* For pass `index` of the decomposition. */
int penstock__gpu_table(struct gpu_table *table, const struct gpu_decomposition *decomposition, unsigned index,
                        const struct penstock_fft_problem *fft);

/* The same, from the cache folder where it is there and takes longer to make than to read: of long convolutions. */
int penstock__gpu_table_kept(struct gpu_table *table, penstock_context *context,
                             const struct gpu_decomposition *decomposition, unsigned index,
                             const struct penstock_fft_problem *fft);

void penstock__gpu_table_free(struct gpu_table *table);

#endif
