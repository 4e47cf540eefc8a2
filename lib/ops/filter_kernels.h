/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The vector loops of the filter, built once for each instruction set; the builds give the same bits. */
#ifndef PENSTOCK_OPS_FILTER_KERNELS_H
#define PENSTOCK_OPS_FILTER_KERNELS_H

#include <penstock/penstock.h>

struct filter_kernels {
    /* x[k] = x[k] h[k] + x[k + m] h[k + m] + ... for k < m: the product of two spectra of n values, n a multiple of m,
     * folded so that a reverse transform of m values gives each (n / m)-th sample. x beyond m stays. */
    void (*multiply)(penstock_cf32 *x, const penstock_cf32 *h, size_t n, size_t m);

    /* The same of real signals' half spectra: x and h hold n / 2 + 1 values, m / 2 + 1 are made. */
    void (*multiply_half)(penstock_cf32 *x, const penstock_cf32 *h, size_t n, size_t m);

    /* y[j] *= turn table[j] */
    void (*rotate)(penstock_cf32 *y, const penstock_cf32 *table, penstock_cf32 turn, size_t count);
};

extern const struct filter_kernels penstock__filter_kernels_plain, penstock__filter_kernels_avx2;

/* The build that this processor runs best. */
const struct filter_kernels *penstock__filter_kernels(void);

#endif
