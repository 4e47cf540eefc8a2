/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The detector's sums in each build that this processor runs: right against double precision, and the same bits as the
 * plain one however many windows are looked at. */
#include "rx/wifi/detect_kernels.h"
#include "test.h"
#include "vector/instructions.h"

#define SAMPLES ((DETECT_GROUPS + 2) * GROUP)

static penstock_cf32 samples[SAMPLES];
static struct detect_sums plain, made;
static float plain_strength[DETECT_WINDOWS], strength[DETECT_WINDOWS];

/* Noise with a mean, in places something that repeats every 16 samples, and nothing at all at the end. */
static void fill(uint64_t seed)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        samples[i] = (penstock_cf32){(float)test_uniform(&seed) + 0.3F, (float)test_uniform(&seed) - 2};
        if (i % 1500 > 1000)
            samples[i] = (penstock_cf32){samples[i - 16].re * 0.99F + samples[i].re * 0.05F,
                                         samples[i - 16].im * 0.99F + samples[i].im * 0.05F};
        if (i > SAMPLES - 400)
            samples[i] = (penstock_cf32){0, 0};
    }
}

struct parts {
    double lag_re, lag_im, power, next;
};

/* Of the window at `x`, by the definition: covariance with what comes 16 samples later, and the power of both. */
static struct parts define(const penstock_cf32 *x)
{
    struct parts parts = {0};
    double mean[2][2] = {{0}};
    for (size_t i = 0; i < DETECT_PRODUCTS; i++)
        for (size_t k = 0; k < 2; k++) {
            mean[k][0] += (double)x[i + k * GROUP].re / DETECT_PRODUCTS;
            mean[k][1] += (double)x[i + k * GROUP].im / DETECT_PRODUCTS;
        }
    for (size_t i = 0; i < DETECT_PRODUCTS; i++) {
        const double a_re = (double)x[i].re - mean[0][0], a_im = (double)x[i].im - mean[0][1],
                     b_re = (double)x[i + GROUP].re - mean[1][0], b_im = (double)x[i + GROUP].im - mean[1][1];
        parts.lag_re += a_re * b_re + a_im * b_im;
        parts.lag_im += a_re * b_im - a_im * b_re;
        parts.power += a_re * a_re + a_im * a_im;
        parts.next += b_re * b_re + b_im * b_im;
    }
    return parts;
}

static void check_meaning(const struct detect_sums *sums, const float *strengths)
{
    size_t strong = 0;
    for (size_t g = 0; g < DETECT_WINDOWS; g++) {
        const struct parts parts = define(samples + g * GROUP);
        const penstock_cf32 lag = penstock__detect_covariance(sums, g);
        const double limit = 1e-6 * (double)sums->power[g] + 1e-9, power = parts.power * parts.next,
                     metric = power > 0 ? (pow(parts.lag_re, 2) + pow(parts.lag_im, 2)) / power : 0;
        CHECK(fabs((double)lag.re - parts.lag_re) < limit && fabs((double)lag.im - parts.lag_im) < limit,
              "window %zu: covariance %g, %g, not %g, %g", g, (double)lag.re, (double)lag.im, parts.lag_re,
              parts.lag_im);
        if (fabs(metric - 0.094) > 1e-3)
            CHECK((strengths[g] > 0) == (metric > 0.094), "window %zu: strength %g at a metric of %g", g,
                  (double)strengths[g], metric);
        strong += strengths[g] > 0;
    }
    CHECK(strong > DETECT_WINDOWS / 10 && strong < DETECT_WINDOWS / 2, "%zu windows stand out", strong);
}

static void check_bits(const struct detect_kernels *kernels, size_t windows)
{
    const size_t bytes = windows * sizeof(float);
    kernels->sum(&made, windows, samples);
    kernels->measure(&made, windows, strength);
    CHECK(!memcmp(strength, plain_strength, bytes), "%zu windows: other strengths than the plain build's", windows);
    CHECK(!memcmp(made.lag_re, plain.lag_re, bytes) && !memcmp(made.lag_im, plain.lag_im, bytes) &&
              !memcmp(made.power, plain.power, bytes) && !memcmp(made.re, plain.re, bytes) &&
              !memcmp(made.im, plain.im, bytes),
          "%zu windows: other sums than the plain build's", windows);
}

int main(void)
{
    const struct detect_kernels *builds[] = {&penstock__detect_kernels_plain,
                                             AVX2_BUILD(&penstock__detect_kernels_avx2)};
    fill(11);
    builds[0]->sum(&plain, DETECT_WINDOWS, samples);
    builds[0]->measure(&plain, DETECT_WINDOWS, plain_strength);
    check_meaning(&plain, plain_strength);
    for (size_t b = 0; b < sizeof builds / sizeof *builds; b++)
        for (size_t windows = 1; builds[b] && windows <= DETECT_WINDOWS; windows += windows < 20 ? 1 : 41)
            check_bits(builds[b], windows);
    return test_finish();
}
