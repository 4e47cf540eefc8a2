/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sums of the filter bank, built once for each instruction set. */
#ifndef PENSTOCK_OPS_CHANNELIZER_KERNELS_H
#define PENSTOCK_OPS_CHANNELIZER_KERNELS_H

#include <penstock/penstock.h>

/* Values of a column of taps that lie together; a last column of half the width is possible. */
#define FOLD_WIDTH 8

/*
 * Weights of a sum over `depth` rows of `width` values, a multiple of FOLD_WIDTH / 2. Column by column of FOLD_WIDTH
 * values, row by row, each real weight twice: once for I, once for Q.
 */
struct fold_weights {
    size_t depth, width;
    float *values;
};

struct channelizer_kernels {
    const char *name;
    size_t frames; /* that are made together at best */

    /* out[f][i] = sum over t of weight[t][i] rows[f][t step + i], i < width, f < frames, added up in the order of t in
     * the same way whatever the number of frames. No alignment is asked for. */
    void (*fold)(penstock_cf32 *const *out, const penstock_cf32 *const *rows, size_t frames, ptrdiff_t step,
                 const struct fold_weights *weights);

    /* streams[c][at + f] = frames[f][c], f < count, c < channels: bits are copied. No alignment is asked for. `past`
     * the processor's caches where that can be. */
    void (*take_apart)(void *const *streams, size_t at, const penstock_cf32 *frames, size_t channels, size_t count,
                       bool past);
};

extern const struct channelizer_kernels penstock__channelizer_kernels_plain, penstock__channelizer_kernels_avx2,
    penstock__channelizer_kernels_avx512;

/* The build that this processor runs best. */
const struct channelizer_kernels *penstock__channelizer_kernels(void);

#endif
