/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The filter's loops: plain C for any processor, and vectors of four values where the build has them. */
#include "ops/filter/filter_kernels.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef FILTER_KERNELS
#define FILTER_KERNELS penstock__filter_kernels_plain
#endif

static inline penstock_cf32 times(penstock_cf32 a, penstock_cf32 b)
{
    return (penstock_cf32){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline penstock_cf32 plus(penstock_cf32 a, penstock_cf32 b)
{
    return (penstock_cf32){a.re + b.re, a.im + b.im};
}

#ifdef __AVX2__

static inline __m256 load4(const penstock_cf32 *values)
{
    return _mm256_loadu_ps((const float *)(const void *)values);
}

static inline void store4(penstock_cf32 *values, __m256 four)
{
    _mm256_storeu_ps((float *)(void *)values, four);
}

/* The roundings of times(). */
static inline __m256 times4(__m256 a, __m256 b)
{
    __m256 re = _mm256_mul_ps(_mm256_moveldup_ps(a), b);
    __m256 im = _mm256_mul_ps(_mm256_movehdup_ps(a), _mm256_permute_ps(b, 0xb1));
    return _mm256_addsub_ps(re, im);
}

static size_t multiply_fours(penstock_cf32 *to, const penstock_cf32 *a, const penstock_cf32 *b, size_t count)
{
    size_t k = 0;
    for (; k + 8 <= count; k += 8) {
        store4(to + k, times4(load4(b + k), load4(a + k)));
        store4(to + k + 4, times4(load4(b + k + 4), load4(a + k + 4)));
    }
    return k;
}

static size_t add_fours(penstock_cf32 *to, const penstock_cf32 *a, const penstock_cf32 *b, size_t count)
{
    size_t k = 0;
    for (; k + 4 <= count; k += 4)
        store4(to + k, _mm256_add_ps(load4(to + k), times4(load4(b + k), load4(a + k))));
    return k;
}

static size_t rotate_fours(penstock_cf32 *to, const penstock_cf32 *from, const penstock_cf32 *table, penstock_cf32 turn,
                           size_t count)
{
    __m256 turns = _mm256_setr_ps(turn.re, turn.im, turn.re, turn.im, turn.re, turn.im, turn.re, turn.im);
    size_t j = 0;
    for (; j + 4 <= count; j += 4)
        store4(to + j, times4(load4(from + j), times4(turns, load4(table + j))));
    return j;
}

#else

static size_t multiply_fours(penstock_cf32 *to, const penstock_cf32 *a, const penstock_cf32 *b, size_t count)
{
    (void)to, (void)a, (void)b, (void)count;
    return 0;
}

#define add_fours multiply_fours

static size_t rotate_fours(penstock_cf32 *to, const penstock_cf32 *from, const penstock_cf32 *table, penstock_cf32 turn,
                           size_t count)
{
    (void)to, (void)from, (void)table, (void)turn, (void)count;
    return 0;
}

#endif

static void multiply(penstock_cf32 *to, const penstock_cf32 *x, const penstock_cf32 *h, size_t n, size_t high, size_t m)
{
    for (size_t first = 0, count; first < high; first += count) {
        const penstock_cf32 *from = x + first % n, *by = h + first;
        penstock_cf32 *sum = to + first % m;
        size_t before_n = n - first % n, before_m = m - first % m, k;
        count = before_n < before_m ? before_n : before_m;
        if (first < m)
            for (k = multiply_fours(sum, from, by, count); k < count; k++)
                sum[k] = times(by[k], from[k]);
        else
            for (k = add_fours(sum, from, by, count); k < count; k++)
                sum[k] = plus(sum[k], times(by[k], from[k]));
    }
}

static void accumulate(penstock_cf32 *to, const penstock_cf32 *x, const penstock_cf32 *h, size_t count)
{
    for (size_t k = add_fours(to, x, h, count); k < count; k++)
        to[k] = plus(to[k], times(h[k], x[k]));
}

/* Bin k of a real signal's spectrum of n values, of which those up to n / 2 are there. */
static inline penstock_cf32 bin_of(const penstock_cf32 *half, size_t k, size_t n)
{
    return k <= n / 2 ? half[k] : (penstock_cf32){half[n - k].re, -half[n - k].im};
}

/* What a sum reads beyond its own bin lies above m / 2 where n = high, so that nothing of x is read after `to` has
 * overwritten it. */
static void multiply_half(penstock_cf32 *to, const penstock_cf32 *x, const penstock_cf32 *h, size_t n, size_t high,
                          size_t m)
{
    size_t k = n == m && n == high ? multiply_fours(to, x, h, n / 2 + 1) : 0;
    for (; k <= m / 2; k++) {
        penstock_cf32 sum = times(bin_of(h, k, high), bin_of(x, k % n, n));
        for (size_t bin = k + m; bin < high; bin += m)
            sum = plus(sum, times(bin_of(h, bin, high), bin_of(x, bin % n, n)));
        to[k] = sum;
    }
}

static void rotate(penstock_cf32 *to, const penstock_cf32 *from, const penstock_cf32 *table, penstock_cf32 turn,
                   size_t count)
{
    for (size_t j = rotate_fours(to, from, table, turn, count); j < count; j++)
        to[j] = times(from[j], times(turn, table[j]));
}

const struct filter_kernels FILTER_KERNELS = {
    .multiply = multiply, .multiply_half = multiply_half, .accumulate = accumulate, .rotate = rotate};
