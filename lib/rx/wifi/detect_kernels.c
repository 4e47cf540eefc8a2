/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "rx/wifi/detect_kernels.h"

#ifndef DETECT_KERNELS
#define DETECT_KERNELS penstock__detect_kernels_plain
#endif

#define THRESHOLD 0.094F /* of the squared metric */
#define LANES     8

/* Power that remains of a window's samples after the mean is taken out, as a share of the mean's, below which it may be
 * rounding alone. */
#define ROUNDING 1e-5F

/* ---------------------------------------------------------------- groups ---------------------- */

/* Of a group real and imaginary parts alternate, in the samples and in the lanes that are added up. These are summed in
 * a fixed tree, so that the result does not depend on the compiler's choice: even and odd ones as (0 + 4) + (2 + 6). */

#if defined(__AVX2__)

#include <immintrin.h>

static inline __m128 fold(__m256 lanes)
{
    return _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
}

/* Even and odd lanes of a, then of b. */
static inline __m128 sum_lanes(__m256 a, __m256 b)
{
    const __m128 x = fold(a), y = fold(b);
    return _mm_add_ps(_mm_movelh_ps(x, y), _mm_movehl_ps(y, x));
}

static inline __attribute__((always_inline)) void sum_some(struct detect_sums *sums, size_t g, const float *x,
                                                           unsigned count)
{
    __m128 a[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()},
           b[4] = {a[0], a[0], a[0], a[0]};
    for (unsigned k = 0; k < count; k++, x += 2 * GROUP) {
        __m256 straight = _mm256_setzero_ps(), crossed = straight, power = straight, sum = straight;
        for (unsigned i = 0; i < 2 * GROUP; i += LANES) {
            const __m256 now = _mm256_loadu_ps(x + i), later = _mm256_loadu_ps(x + i + 2 * GROUP);
            straight = _mm256_add_ps(straight, _mm256_mul_ps(now, later));
            crossed = _mm256_add_ps(crossed, _mm256_mul_ps(now, _mm256_permute_ps(later, 0xb1)));
            power = _mm256_add_ps(power, _mm256_mul_ps(now, now));
            sum = _mm256_add_ps(sum, now);
        }
        a[k] = sum_lanes(straight, power);
        b[k] = sum_lanes(crossed, sum);
    }
    _MM_TRANSPOSE4_PS(a[0], a[1], a[2], a[3]);
    _MM_TRANSPOSE4_PS(b[0], b[1], b[2], b[3]);
    _mm_storeu_ps(sums->lag_re + g, _mm_add_ps(a[0], a[1]));
    _mm_storeu_ps(sums->power + g, _mm_add_ps(a[2], a[3]));
    _mm_storeu_ps(sums->lag_im + g, _mm_sub_ps(b[0], b[1]));
    _mm_storeu_ps(sums->re + g, b[2]);
    _mm_storeu_ps(sums->im + g, b[3]);
}

static void sum_groups(struct detect_sums *sums, size_t count, const penstock_cf32 *samples)
{
    const float *x = &samples->re;
    size_t g = 0;
    for (; g + 4 <= count; g += 4)
        sum_some(sums, g, x + g * 2 * GROUP, 4);
    if (g < count)
        sum_some(sums, g, x + g * 2 * GROUP, (unsigned)(count - g));
}

#else

static float sum_even(const float *lanes)
{
    return (lanes[0] + lanes[4]) + (lanes[2] + lanes[6]);
}

static float sum_odd(const float *lanes)
{
    return (lanes[1] + lanes[5]) + (lanes[3] + lanes[7]);
}

static void sum_groups(struct detect_sums *sums, size_t count, const penstock_cf32 *samples)
{
    const float *x = &samples->re;
    for (size_t g = 0; g < count; g++, x += 2 * GROUP) {
        float straight[LANES] = {0}, crossed[LANES] = {0}, power[LANES] = {0}, sum[LANES] = {0};
        for (unsigned i = 0; i < 2 * GROUP; i += LANES)
            for (unsigned j = 0; j < LANES; j++) {
                float a = x[i + j];
                straight[j] += a * x[i + j + 2 * GROUP];
                crossed[j] += a * x[i + (j ^ 1) + 2 * GROUP];
                power[j] += a * a;
                sum[j] += a;
            }
        sums->lag_re[g] = sum_even(straight) + sum_odd(straight);
        sums->lag_im[g] = sum_even(crossed) - sum_odd(crossed);
        sums->power[g] = sum_even(power) + sum_odd(power);
        sums->re[g] = sum_even(sum);
        sums->im[g] = sum_odd(sum);
    }
}

#endif

/* ---------------------------------------------------------------- windows --------------------- */

/* Each of `count` values becomes the sum of the WINDOW_GROUPS that begin with it, in a tree whose parts serve several:
 * ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)). */
static inline __attribute__((always_inline)) void sum_windows(float *values, size_t count)
{
    for (size_t i = 0; i < count + 3; i++)
        values[i] += values[i + 4];
    for (size_t i = 0; i < count + 1; i++)
        values[i] += values[i + 2];
    for (size_t i = 0; i < count; i++)
        values[i] += values[i + 1];
}

static inline __attribute__((always_inline)) void sum_all_windows(struct detect_sums *sums, size_t count)
{
    sum_windows(sums->lag_re, count);
    sum_windows(sums->lag_im, count);
    sum_windows(sums->power, count);
    sum_windows(sums->re, count);
    sum_windows(sums->im, count);
}

static void sum(struct detect_sums *sums, size_t windows, const penstock_cf32 *samples)
{
    sum_groups(sums, windows + WINDOW_GROUPS, samples);
    if (windows == 1) /* an examination's: without loops */
        sum_all_windows(sums, 2);
    else
        sum_all_windows(sums, windows + 1);
}

static void measure(const struct detect_sums *sums, size_t windows, float *restrict strength)
{
    for (size_t g = 0; g < windows; g++) {
        const float a_re = sums->re[g], a_im = sums->im[g], b_re = sums->re[g + 1], b_im = sums->im[g + 1];
        const penstock_cf32 lag = penstock__detect_covariance(sums, g);
        float a_mean = (a_re * a_re + a_im * a_im) / DETECT_PRODUCTS,
              b_mean = (b_re * b_re + b_im * b_im) / DETECT_PRODUCTS;
        float a = sums->power[g] - a_mean, b = sums->power[g + 1] - b_mean;
        float a_scale = a > ROUNDING * a_mean && a > 0 ? 1 / a : 0,
              b_scale = b > ROUNDING * b_mean && b > 0 ? 1 / b : 0;
        float metric = lag.re * a_scale * (lag.re * b_scale) + lag.im * a_scale * (lag.im * b_scale);
        strength[g] = metric > THRESHOLD ? metric * (a + b) : 0;
    }
}

const struct detect_kernels DETECT_KERNELS = {.sum = sum, .measure = measure};
