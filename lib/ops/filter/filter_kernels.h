/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The vector loops of the filter, built once for each instruction set; the builds give the same bits. */
#ifndef PENSTOCK_OPS_FILTER_KERNELS_H
#define PENSTOCK_OPS_FILTER_KERNELS_H

#include <penstock/penstock.h>

struct filter_kernels {
    /*
     * The product of a spectrum x of n values, repeated up to the length `high` of h, with h, folded to m values so
     * that a reverse transform of m gives each (high / m)-th sample: to[k] is the sum of x[j mod n] h[j] over all j <
     * high that are k modulo m. `high` is a multiple of n and of m; `to` may be x where n = high.
     */
    void (*multiply)(penstock_cf32 *to, const penstock_cf32 *x, const penstock_cf32 *h, size_t n, size_t high,
                     size_t m);

    /* The same of real signals' half spectra: n / 2 + 1 values of x, high / 2 + 1 of h, m / 2 + 1 of `to`. */
    void (*multiply_half)(penstock_cf32 *to, const penstock_cf32 *x, const penstock_cf32 *h, size_t n, size_t high,
                          size_t m);

    /* to[k] += x[k] h[k] */
    void (*accumulate)(penstock_cf32 *to, const penstock_cf32 *x, const penstock_cf32 *h, size_t count);

    /* to[j] = from[j] turn table[j]; `to` may be `from` */
    void (*rotate)(penstock_cf32 *to, const penstock_cf32 *from, const penstock_cf32 *table, penstock_cf32 turn,
                   size_t count);
};

extern const struct filter_kernels penstock__filter_kernels_plain, penstock__filter_kernels_avx2;

/* The build that this processor runs best. */
const struct filter_kernels *penstock__filter_kernels(void);

#endif
