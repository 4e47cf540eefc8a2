/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Windowed-sinc taps and their sum of products, in an order of addition that compilers can vectorise. */
#include "tx/interpolator.h"
#include "ops/taps/kaiser.h"

#include <math.h>

#define TAPS  PENSTOCK__INTERPOLATOR_TAPS
#define BETA  8.96 /* 90 dB; the band from 0.455 to 0.545 of the rate is the transition */
#define LANES 16

static const double pi = 3.14159265358979323846;

static double windowed_sinc(double t)
{
    double u = t / (TAPS / 2.0);
    if (fabs(u) >= 1)
        return 0;
    return (t == 0 ? 1 : sin(pi * t) / (pi * t)) * penstock__bessel_i0(BETA * sqrt(1 - u * u)) /
           penstock__bessel_i0(BETA);
}

void penstock__taps_fill(struct penstock__taps *taps, double fraction)
{
    for (int k = 0; k < TAPS; k++)
        taps->value[2 * k] = taps->value[2 * k + 1] =
            (float)windowed_sinc(fraction + PENSTOCK__INTERPOLATOR_BEFORE - k);
}

penstock_cf32 penstock__taps_apply(const struct penstock__taps *taps, const penstock_cf32 *x)
{
    const float *values = (const float *)(const void *)x;
    float sum[LANES] = {0};
    for (int k = 0; k < 2 * TAPS; k += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sum[lane] += taps->value[k + lane] * values[k + lane];
    for (int half = LANES / 2; half >= 2; half /= 2)
        for (int lane = 0; lane < half; lane++)
            sum[lane] += sum[lane + half];
    return (penstock_cf32){sum[0], sum[1]};
}
