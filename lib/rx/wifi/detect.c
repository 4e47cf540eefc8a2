/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The short training field repeats every 16 samples. Its covariance with itself 16 samples later, over a window of
 * 128 products, is compared with the power: T. Schmidl and D. Cox, "Robust frequency and timing synchronization
 * for OFDM", IEEE Trans. Comm. 45(12), 1997, with each window's own mean taken out, so that a DC offset, which
 * repeats at every lag, does not count. Windows start at multiples of 16 samples of the stream; one always lies
 * within the field's 160 samples.
 *
 * With white noise alone the squared metric exceeds t with probability exp(-128 t): the threshold's 6e-6 a window
 * makes some 400 triggers in 1e9 samples. At 0 dB its root has mean 0.5 and deviation 0.05.
 */
#include "rx/wifi/receiver.h"

#define WINDOW    (WINDOW_GROUPS * GROUP)
#define THRESHOLD 0.094F /* of the squared metric */
#define LANES     8

/* Power that remains of a window's samples after the mean is taken out, as a share of the mean's, below which it may be
 * rounding alone. */
#define ROUNDING 1e-5F

/* Sums over the groups of some windows, and what of them is beyond. */
#define WINDOWS 512
#define GROUPS  (WINDOWS + WINDOW_GROUPS)

struct sums {
    float lag_re[GROUPS], lag_im[GROUPS], power[GROUPS], sum_re[GROUPS], sum_im[GROUPS];
};

/* A fixed tree, so that the result does not depend on the compiler's choice. */
static float sum_even(const float *lanes)
{
    return (lanes[0] + lanes[4]) + (lanes[2] + lanes[6]);
}

static float sum_odd(const float *lanes)
{
    return (lanes[1] + lanes[5]) + (lanes[3] + lanes[7]);
}

static void sum_groups(struct sums *sums, size_t count, const penstock_cf32 *samples)
{
    const float *x = &samples->re;
    for (size_t g = 0; g < count; g++, x += 2 * GROUP) {
        /* Real and imaginary parts alternate, in the samples and in the lanes. */
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
        sums->sum_re[g] = sum_even(sum);
        sums->sum_im[g] = sum_odd(sum);
    }
}

static inline float over_window(const float *groups)
{
    return ((groups[0] + groups[4]) + (groups[2] + groups[6])) + ((groups[1] + groups[5]) + (groups[3] + groups[7]));
}

/* Covariance at lag 16 over the window that begins at group g. */
static inline penstock_cf32 covariance(const struct sums *sums, size_t g, penstock_cf32 a, penstock_cf32 b)
{
    return (penstock_cf32){over_window(&sums->lag_re[g]) - (a.re * b.re + a.im * b.im) / WINDOW,
                           over_window(&sums->lag_im[g]) - (a.re * b.im - a.im * b.re) / WINDOW};
}

static inline penstock_cf32 sum_of(const struct sums *sums, size_t g)
{
    return (penstock_cf32){over_window(&sums->sum_re[g]), over_window(&sums->sum_im[g])};
}

static void measure(const struct sums *sums, size_t count, float *strength)
{
    for (size_t g = 0; g < count; g++) {
        const penstock_cf32 a_sum = sum_of(sums, g), b_sum = sum_of(sums, g + 1);
        const penstock_cf32 lag = covariance(sums, g, a_sum, b_sum);
        float a_mean = (a_sum.re * a_sum.re + a_sum.im * a_sum.im) / WINDOW;
        float b_mean = (b_sum.re * b_sum.re + b_sum.im * b_sum.im) / WINDOW;
        float a = over_window(&sums->power[g]) - a_mean, b = over_window(&sums->power[g + 1]) - b_mean;
        float a_scale = a > ROUNDING * a_mean && a > 0 ? 1 / a : 0,
              b_scale = b > ROUNDING * b_mean && b > 0 ? 1 / b : 0;
        float metric = lag.re * a_scale * (lag.re * b_scale) + lag.im * a_scale * (lag.im * b_scale);
        strength[g] = metric > THRESHOLD ? metric * (a + b) : 0;
    }
}

void penstock__wifi_look(const penstock_cf32 *samples, size_t windows, float *strength)
{
    struct sums sums;
    for (size_t done = 0; done < windows; done += WINDOWS) {
        size_t count = windows - done < WINDOWS ? windows - done : WINDOWS;
        sum_groups(&sums, count + WINDOW_GROUPS, samples + done * GROUP);
        measure(&sums, count, strength + done);
    }
}

struct penstock__wifi_window penstock__wifi_window(const penstock_cf32 *samples)
{
    struct sums sums;
    sum_groups(&sums, 1 + WINDOW_GROUPS, samples);
    const penstock_cf32 a = sum_of(&sums, 0), b = sum_of(&sums, 1);
    return (struct penstock__wifi_window){
        .lag = covariance(&sums, 0, a, b),
        .mean = {a.re / WINDOW, a.im / WINDOW},
        .power = (over_window(&sums.power[0]) - (a.re * a.re + a.im * a.im) / WINDOW) / WINDOW,
    };
}
