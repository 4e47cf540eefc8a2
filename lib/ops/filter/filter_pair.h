/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Circular convolution of one length by the transforms of vector/vector_fft.h, faster than two of them: the spectrum
 * stays in the order in which the forward passes leave it, nothing is sorted, and the passes in the middle are one with
 * the product. The way back is decimation in time.
 */
#ifndef PENSTOCK_OPS_FILTER_PAIR_H
#define PENSTOCK_OPS_FILTER_PAIR_H

#include "backends/backend.h"
#include "vector/vector_fft.h"

#define PAIR_LONGEST ((size_t)1 << 22)

struct pair_kernels;

struct filter_pair {
    struct vector_fft fft; /* VECTOR_BY_PLACE */
    const struct pair_kernels *kernels;
    uint32_t *bins; /* of the spectrum, for each place */
};

/* One instruction set's. All arrays of W are aligned to 64 bytes, samples need not be. */
struct pair_kernels {
    const char *name;
    size_t width; /* W */

    /* From n samples to `data`, n / W vectors of W real and W imaginary parts. */
    void (*forward)(const struct filter_pair *pair, float *data, const penstock_cf32 *in);

    /* From there, through the product with `spectrum`, in `work` (which may be `data`), to values `first` .. `first` +
     * `count` - 1 at `out`. */
    void (*reverse)(const struct filter_pair *pair, float *work, const float *data, const float *spectrum,
                    penstock_cf32 *out, size_t first, size_t count);
};

extern const struct pair_kernels penstock__pair_kernels_avx2, penstock__pair_kernels_avx512;

/* Those that this processor can run, the fastest first; NULL from `index` = their number on. */
const struct pair_kernels *penstock__pair_kernels(size_t index);

/* Whether a transform fits, no longer than the above. */
bool penstock__filter_pair_fits(size_t n);

/* Tables for a length that fits. */
int penstock__filter_pair_new(struct filter_pair **pair, size_t n, const struct pair_kernels *kernels);
void penstock__filter_pair_free(struct filter_pair *pair);

/* Whether a convolution of noise comes out right, by a double-precision transform. */
int penstock__filter_pair_check(const struct filter_pair *pair);

/* A spectrum in the order of bins to the one that kernels take. */
void penstock__filter_pair_order(const struct filter_pair *pair, float *to, const penstock_cf32 *spectrum);

#endif
