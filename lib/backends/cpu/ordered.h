/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Complex transforms of powers of two by the processor's longest vectors, W values each, bins in order.
 *
 * Vector v holds samples v W .. v W + W - 1. n / W-point transforms in radices 8 and 4 run down the lanes, then W-point
 * ones across them (J. Cooley, J. Tukey 1965; decimation in frequency). The first ones leave their bins in the order of
 * reversed digits, vectors of W each; W of them with bins in a row are then taken at a time and transposed, so that the
 * transform across runs down the lanes, too, and its bins leave in whole vectors, where they belong.
 */
#ifndef PENSTOCK_CPU_ORDERED_H
#define PENSTOCK_CPU_ORDERED_H

#include "backends/backend.h"

#define ORDERED_SHORTEST 256
#define ORDERED_LONGEST  ((size_t)1 << 23)
#define ORDERED_PASSES   8

/* Of n / W-point transforms, from the longest span to the shortest. */
struct ordered_pass {
    unsigned radix;      /* 8 or 4 */
    size_t span, blocks; /* vectors from one leg to the next, and how often */
    const float *roots;  /* radix - 1 complex ones for each of `span`; NULL in the last pass: all one */
};

struct ordered_kernels;

struct ordered_fft {
    size_t n, vectors; /* n / W */
    const struct ordered_kernels *kernels;
    struct ordered_pass passes[ORDERED_PASSES];
    size_t pass_count;
    float *middle;    /* between the two transforms: W real parts, then W imaginary ones, by bin of the first */
    float *roots;     /* of the passes */
    uint32_t *places; /* of the vector with a bin of the first transform */
    float *window;    /* factors of the samples of a forward transform, in the order of lanes; or NULL */
};

/* One instruction set's. */
struct ordered_kernels {
    const char *name;
    size_t width;      /* W */
    size_t worthwhile; /* the length from which on they are faster than FFTW */

    /* n samples to n bins; `work` is n values of memory aligned to 64 bytes. `in` and `out` need not be, and are apart.
     */
    void (*forward)(const struct ordered_fft *fft, penstock_cf32 *out, const penstock_cf32 *in, void *work);
    void (*reverse)(const struct ordered_fft *fft, penstock_cf32 *out, const penstock_cf32 *in, void *work);

    /* sums[k] += |bin k|^2, the square in float, the sum in double; forward. */
    void (*power)(const struct ordered_fft *fft, double *sums, const penstock_cf32 *in, void *work);
};

extern const struct ordered_kernels penstock__ordered_kernels_avx2, penstock__ordered_kernels_avx512;

/* Those that this processor can run, the fastest first; NULL from `index` = their number on. */
const struct ordered_kernels *penstock__ordered_build(size_t index);

/* The fastest for n points; NULL where FFTW is as fast, and where n is no power of two between the two above. */
const struct ordered_kernels *penstock__ordered_kernels(size_t n);

/* Tables for a power of two between the two above; `window` has n factors, which are copied, or is NULL. */
int penstock__ordered_fft_new(struct ordered_fft **fft, size_t n, const float *window,
                              const struct ordered_kernels *kernels);
void penstock__ordered_fft_free(struct ordered_fft *fft);

#endif
