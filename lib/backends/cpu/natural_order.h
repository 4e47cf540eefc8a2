/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Complex transforms of vector/vector_fft.h with bins in order: W vectors with bins in a row of the transforms down the
 * lanes are taken at a time to those across, wherever they lie, whose bins then leave in whole vectors, where they
 * belong.
 */
#ifndef PENSTOCK_CPU_NATURAL_ORDER_H
#define PENSTOCK_CPU_NATURAL_ORDER_H

#include "backends/backend.h"
#include "vector/vector_fft.h"

struct natural_order_kernels;

struct natural_order_fft {
    struct vector_fft fft; /* VECTOR_BY_BIN */
    const struct natural_order_kernels *kernels;
    uint32_t *places; /* of the vector with a bin of the transforms down the lanes */
    float *window;    /* factors of the samples of a forward transform, in the order of lanes; or NULL */
};

/* One instruction set's. */
struct natural_order_kernels {
    const char *name;
    size_t width;      /* W */
    size_t worthwhile; /* the length from which on they are faster than FFTW */

    /* n samples to n bins; `work` is n values of memory aligned to 64 bytes. `in` and `out` need not be, and are apart.
     * `next`: the samples of the transform that follows, which are fetched where that is worth it, or NULL. */
    void (*forward)(const struct natural_order_fft *natural_order, penstock_cf32 *out, const penstock_cf32 *in,
                    const penstock_cf32 *next, void *work);
    void (*reverse)(const struct natural_order_fft *natural_order, penstock_cf32 *out, const penstock_cf32 *in,
                    const penstock_cf32 *next, void *work);
};

extern const struct natural_order_kernels penstock__natural_order_kernels_avx2, penstock__natural_order_kernels_avx512;

/* Those that this processor can run, the fastest first; NULL from `index` = their number on. */
const struct natural_order_kernels *penstock__natural_order_build(size_t index);

/* The fastest for n points; NULL where FFTW is as fast, and where n does not fit. */
const struct natural_order_kernels *penstock__natural_order_kernels(size_t n);

/* Tables for a length that fits; `window` has n factors, which are copied, or is NULL. */
int penstock__natural_order_fft_new(struct natural_order_fft **natural_order, size_t n, const float *window,
                                    const struct natural_order_kernels *kernels);
void penstock__natural_order_fft_free(struct natural_order_fft *natural_order);

#endif
