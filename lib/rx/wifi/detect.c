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

#include <string.h>

#define WINDOW    (WINDOW_GROUPS * GROUP)
#define THRESHOLD 0.094F /* of the squared metric */
#define LANES     8
#define RUN_MAX   24 /* windows: more than a short training field can make */
#define GAP_MAX   2  /* windows below the threshold that end a run */

/* Power that remains of a window's samples after the mean is taken out, as a share of the mean's, below which it may be
 * rounding alone. */
#define ROUNDING 1e-5F

int penstock__wifi_detector_init(struct penstock__wifi_detector *detector, size_t max_groups)
{
    float **arrays[] = {&detector->lag_re, &detector->lag_im, &detector->power,   &detector->sum_re,
                        &detector->sum_im, &detector->metric, &detector->strength};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i] = penstock__calloc(max_groups, sizeof(float))))
            return PENSTOCK_ERR_MEMORY;
    return PENSTOCK_OK;
}

void penstock__wifi_detector_reset(struct penstock__wifi_detector *detector)
{
    detector->count = 0;
    detector->first_group = 0;
    detector->run_length = detector->run_gap = 0;
}

void penstock__wifi_detector_free(struct penstock__wifi_detector *detector)
{
    float *arrays[] = {detector->lag_re, detector->lag_im, detector->power,   detector->sum_re,
                       detector->sum_im, detector->metric, detector->strength};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        penstock__free(arrays[i]);
}

/* A fixed tree, so that the result does not depend on the compiler's choice. */
static float sum_even(const float *lanes)
{
    return (lanes[0] + lanes[4]) + (lanes[2] + lanes[6]);
}

static float sum_odd(const float *lanes)
{
    return (lanes[1] + lanes[5]) + (lanes[3] + lanes[7]);
}

void penstock__wifi_detector_sums(struct penstock__wifi_detector *detector, size_t first, size_t count,
                                  const penstock_cf32 *samples)
{
    const float *x = &samples->re;
    for (size_t g = first; g < first + count; g++, x += 2 * GROUP) {
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
        detector->lag_re[g] = sum_even(straight) + sum_odd(straight);
        detector->lag_im[g] = sum_even(crossed) - sum_odd(crossed);
        detector->power[g] = sum_even(power) + sum_odd(power);
        detector->sum_re[g] = sum_even(sum);
        detector->sum_im[g] = sum_odd(sum);
    }
}

static inline float over_window(const float *groups)
{
    return ((groups[0] + groups[4]) + (groups[2] + groups[6])) + ((groups[1] + groups[5]) + (groups[3] + groups[7]));
}

void penstock__wifi_detector_metrics(struct penstock__wifi_detector *detector, size_t first, size_t count)
{
    for (size_t g = first; g < first + count; g++) {
        float a_re = over_window(&detector->sum_re[g]), b_re = over_window(&detector->sum_re[g + 1]);
        float a_im = over_window(&detector->sum_im[g]), b_im = over_window(&detector->sum_im[g + 1]);
        float lag_re = over_window(&detector->lag_re[g]) - (a_re * b_re + a_im * b_im) / WINDOW;
        float lag_im = over_window(&detector->lag_im[g]) - (a_re * b_im - a_im * b_re) / WINDOW;
        float a_mean = (a_re * a_re + a_im * a_im) / WINDOW, b_mean = (b_re * b_re + b_im * b_im) / WINDOW;
        float a = over_window(&detector->power[g]) - a_mean, b = over_window(&detector->power[g + 1]) - b_mean;
        float a_scale = a > ROUNDING * a_mean && a > 0 ? 1 / a : 0,
              b_scale = b > ROUNDING * b_mean && b > 0 ? 1 / b : 0;
        float metric = lag_re * a_scale * (lag_re * b_scale) + lag_im * a_scale * (lag_im * b_scale);
        detector->metric[g] = metric;
        detector->strength[g] = metric * (a + b);
    }
}

static void fill(struct penstock__wifi_candidate *candidate, const struct penstock__wifi_detector *detector, size_t g)
{
    float a_re = over_window(&detector->sum_re[g]), b_re = over_window(&detector->sum_re[g + 1]);
    float a_im = over_window(&detector->sum_im[g]), b_im = over_window(&detector->sum_im[g + 1]);
    candidate->position = (detector->first_group + (int64_t)g) * GROUP;
    candidate->lag.re = over_window(&detector->lag_re[g]) - (a_re * b_re + a_im * b_im) / WINDOW;
    candidate->lag.im = over_window(&detector->lag_im[g]) - (a_re * b_im - a_im * b_re) / WINDOW;
    candidate->mean = (penstock_cf32){a_re / WINDOW, a_im / WINDOW};
    candidate->power = (over_window(&detector->power[g]) - (a_re * a_re + a_im * a_im) / WINDOW) / WINDOW;
}

void penstock__wifi_detector_forget(struct penstock__wifi_detector *detector, size_t windows)
{
    float *arrays[] = {detector->lag_re, detector->lag_im, detector->power, detector->sum_re, detector->sum_im};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        memmove(arrays[i], arrays[i] + windows, (detector->count - windows) * sizeof(float));
    detector->count -= windows;
    detector->first_group += (int64_t)windows;
}

bool penstock__wifi_detector_step(struct penstock__wifi_detector *detector, size_t i,
                                  struct penstock__wifi_candidate *candidate)
{
    bool above = detector->metric[i] > THRESHOLD;
    if (!detector->run_length && !above)
        return false;
    if (!detector->run_length)
        detector->run_best = 0;
    detector->run_length++;
    detector->run_gap = above ? 0 : detector->run_gap + 1;
    if (above && detector->strength[i] > detector->run_best) {
        detector->run_best = detector->strength[i];
        fill(&detector->run_candidate, detector, i);
    }
    if (detector->run_gap < GAP_MAX && detector->run_length < RUN_MAX)
        return false;
    return penstock__wifi_detector_end(detector, candidate);
}

bool penstock__wifi_detector_end(struct penstock__wifi_detector *detector, struct penstock__wifi_candidate *candidate)
{
    bool found = detector->run_length > 0;
    detector->run_length = detector->run_gap = 0;
    *candidate = detector->run_candidate;
    return found;
}
