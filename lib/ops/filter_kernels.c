/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The filter's loops, written so that compilers vectorise them. */
#include "ops/filter_kernels.h"

#ifndef FILTER_KERNELS
#define FILTER_KERNELS penstock__filter_kernels_plain
#endif

static inline penstock_cf32 times(penstock_cf32 a, penstock_cf32 b)
{
    return (penstock_cf32){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static void multiply(penstock_cf32 *x, const penstock_cf32 *h, size_t n, size_t m)
{
    for (size_t k = 0; k < m; k++)
        x[k] = times(x[k], h[k]);
    for (size_t first = m; first < n; first += m) {
        const penstock_cf32 *restrict from = x + first, *restrict by = h + first;
        penstock_cf32 *restrict to = x;
        for (size_t k = 0; k < m; k++) {
            penstock_cf32 product = times(from[k], by[k]);
            to[k].re += product.re;
            to[k].im += product.im;
        }
    }
}

/* Bins above n / 2 are the conjugates of those below. What a sum reads beyond its own bin k lies above m / 2, where
 * nothing is written. */
static void multiply_half(penstock_cf32 *x, const penstock_cf32 *h, size_t n, size_t m)
{
    for (size_t k = 0; k <= m / 2; k++) {
        penstock_cf32 sum = times(x[k], h[k]);
        for (size_t bin = k + m; bin < n; bin += m) {
            size_t mirror = bin <= n / 2 ? bin : n - bin;
            penstock_cf32 product = times(x[mirror], h[mirror]);
            sum.re += product.re;
            sum.im += bin <= n / 2 ? product.im : -product.im;
        }
        x[k] = sum;
    }
}

static void rotate(penstock_cf32 *y, const penstock_cf32 *table, penstock_cf32 turn, size_t count)
{
    for (size_t j = 0; j < count; j++)
        y[j] = times(y[j], times(turn, table[j]));
}

const struct filter_kernels FILTER_KERNELS = {.multiply = multiply, .multiply_half = multiply_half, .rotate = rotate};
