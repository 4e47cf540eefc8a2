/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Circular convolution of one length, faster than two transforms: the spectrum stays in the order in which the forward
 * passes leave it, nothing is sorted, and the passes in the middle are one with the product.
 *
 * A vector holds one of every n / W samples in a row, W being the processor's vector length: n / W-point transforms in
 * radices 8 and 4 run down the lanes, then W-point ones across them (J. Cooley, J. Tukey 1965; decimation in frequency
 * on the way there, in time on the way back). In the middle W vectors at a time are transposed, so that these run down
 * the lanes, too.
 */
#ifndef PENSTOCK_OPS_FILTER_PAIR_H
#define PENSTOCK_OPS_FILTER_PAIR_H

#include "backends/backend.h"

#define PAIR_SHORTEST 256
#define PAIR_LONGEST  ((size_t)1 << 22)
#define PAIR_PASSES   8

/* Of n / W-point transforms, from the longest span to the shortest. */
struct pair_pass {
    unsigned radix;      /* 8 or 4 */
    size_t span, blocks; /* vectors from one leg to the next, and how often */
    const float *roots;  /* radix - 1 complex ones for each of `span`; NULL in the last pass: all one */
};

struct pair_kernels;

struct filter_pair {
    size_t n, vectors; /* n / W */
    const struct pair_kernels *kernels;
    struct pair_pass passes[PAIR_PASSES];
    size_t pass_count;
    float *middle;  /* between the two transforms, for each vector: W real parts, then W imaginary ones */
    float *roots;   /* of the passes */
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

/* A power of two between the two above. */
bool penstock__filter_pair_fits(size_t n);

/* Tables for a length that fits. */
int penstock__filter_pair_new(struct filter_pair **pair, size_t n, const struct pair_kernels *kernels);
void penstock__filter_pair_free(struct filter_pair *pair);

/* Whether a convolution of noise comes out right, by a double-precision transform. */
int penstock__filter_pair_check(const struct filter_pair *pair);

/* A spectrum in the order of bins to the one that kernels take. */
void penstock__filter_pair_order(const struct filter_pair *pair, float *to, const penstock_cf32 *spectrum);

#endif
