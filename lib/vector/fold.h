/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Weighted sums of rows, as filter banks fold their samples and overlap their transforms; built once for each
 * instruction set. */
#ifndef PENSTOCK_VECTOR_FOLD_H
#define PENSTOCK_VECTOR_FOLD_H

#include "backends/backend.h"

/* Values of a column of weights that lie together; a last column of half the width is possible. */
#define FOLD_WIDTH 8

/* A multiple of the rows that any build makes together. */
#define FOLD_TOGETHER 16

/*
 * Weights of a sum over `depth` rows of `width` values, a multiple of FOLD_WIDTH / 2. Column by column of FOLD_WIDTH
 * values, row by row, each real weight twice: once for I, once for Q.
 */
struct fold_weights {
    size_t depth, width;
    float *values;
};

/* All zeros, for rows of `count` values. */
static inline int penstock__fold_weights_init(struct fold_weights *weights, size_t depth, size_t count)
{
    *weights = (struct fold_weights){.depth = depth, .width = penstock__round_up(count, FOLD_WIDTH / 2)};
    weights->values = penstock__calloc(2 * weights->width * depth, sizeof(float));
    return weights->values ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* That of value i of row t. */
static inline void penstock__fold_weight(const struct fold_weights *weights, size_t t, size_t i, float weight)
{
    const size_t column = i / FOLD_WIDTH * FOLD_WIDTH, left = weights->width - column;
    float *pair =
        weights->values + 2 * (column * weights->depth + t * (left < FOLD_WIDTH ? left : FOLD_WIDTH) + i - column);
    pair[0] = pair[1] = weight;
}

struct fold_kernels {
    const char *name;
    size_t frames; /* that are made together at best */

    /* out[f][i] = sum over t of weight[t][i] rows[f][t step + i], i < width, f < frames, added up in the order of t in
     * the same way whatever the number of frames. No alignment is asked for. */
    void (*fold)(penstock_cf32 *const *out, const penstock_cf32 *const *rows, size_t frames, ptrdiff_t step,
                 const struct fold_weights *weights);
};

extern const struct fold_kernels penstock__fold_plain, penstock__fold_avx2, penstock__fold_avx512;

/* The build that this processor runs best. */
const struct fold_kernels *penstock__fold_kernels(void);

#endif
