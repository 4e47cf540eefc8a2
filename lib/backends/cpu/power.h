/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The mean power of complex transforms of powers of two by the processor's vectors, W values each: nobody sees the bins
 * of one transform, so that they need not be put in order, and sums may stay where the arithmetic leaves them until the
 * mean is taken.
 *
 * Transforms of n / W points go down the lanes, in radices that end with W; each W vectors that these leave side by
 * side, a group, are transposed, and transforms of W points across the lanes follow at once. All decimate in time, with
 * samples in order (J. Cooley, J. Tukey 1965): a butterfly's roots are powers of one, which depends on the number of
 * its block alone and goes into its sums and differences by fused products (E. Linzer, E. Feig 1993).
 */
#ifndef PENSTOCK_CPU_POWER_H
#define PENSTOCK_CPU_POWER_H

#include "backends/backend.h"
#include "backends/cpu/store.h"

#define POWER_SHORTEST 256
#define POWER_LONGEST  ((size_t)1 << 23)
#define POWER_PASSES   6

/* Of the transforms down the lanes, but the last pass, from the longest span to the shortest. */
struct power_pass {
    unsigned radix;     /* 2, 4 or 8 */
    size_t span;        /* vectors from one leg to the next */
    const float *roots; /* of each block: see power.c; NULL in the first pass: all one */
};

struct power_kernels;

/* Arrays are aligned to 64 bytes. */
struct power_fft {
    const struct power_kernels *kernels;
    size_t n, groups; /* n = W W groups */
    struct power_pass passes[POWER_PASSES];
    size_t pass_count;
    float *window;    /* factors of the samples in the order of lanes, or NULL */
    float *roots;     /* of the passes */
    float *down;      /* of each group's pass of radix W: complex ones */
    float *across;    /* of each group's transforms across: for each of those roots W real parts, W imaginary ones */
    uint32_t *places; /* of the group whose bins are this one and those each as many further as there are groups */
};

/* The bin that a butterfly of 8 or 16 with roots leaves at a place: the digits of 2 4 or 4 4, reversed. The bins of the
 * last pass down the lanes, which become lanes, stay so, in the sums too. */
static inline unsigned power_bin_at(unsigned place, unsigned radix)
{
    return place / 4 + radix / 4 * (place % 4);
}

/* One instruction set's. */
struct power_kernels {
    const char *name;
    size_t width;      /* W */
    size_t worthwhile; /* the length from which on they are faster than FFTW */

    /* Adds to the sums, penstock__power_sum_bytes() of them, the power of transform `k` of the `average` that make a
     * mean: the first one does not mind what was there. `next`: the samples of the transform that follows, which are
     * fetched where that is worth it, or NULL. `work` is n values; it and `sums` are aligned to 64 bytes. */
    void (*add)(const struct power_fft *fft, void *sums, unsigned k, unsigned average, const penstock_cf32 *in,
                const penstock_cf32 *next, void *work);

    /* The sums times `factor` in the order of bins: `count` parts, from `first` on, of the W parts that bins make. */
    void (*mean)(const struct power_fft *fft, float *out, const double *sums, double factor, size_t first,
                 size_t count);
};

extern const struct power_kernels penstock__power_kernels_avx2, penstock__power_kernels_avx512;

/* Those that this processor can run, the fastest first; NULL from `index` = their number on. */
const struct power_kernels *penstock__power_build(size_t index);

/* The fastest for n points; NULL where FFTW is as fast, and where n does not fit. */
const struct power_kernels *penstock__power_kernels(size_t n);

/* Tables for a length that fits; `window` has n factors, which are copied, or is NULL. */
int penstock__power_fft_new(struct power_fft **fft, size_t n, const float *window, const struct power_kernels *kernels);
void penstock__power_fft_free(struct power_fft *fft);

size_t penstock__power_sum_bytes(size_t n);

/* The mean of `average` transforms from their sums; `first` is the place of bin 0, which is 0 or n / 2. */
void penstock__power_mean(const struct power_fft *fft, float *out, const void *sums, unsigned average, size_t first);

#endif
