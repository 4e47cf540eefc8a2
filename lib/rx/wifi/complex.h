/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Complex arithmetic on penstock_cf32, without the checks for infinities that C's own multiplication makes. */
#ifndef PENSTOCK_RX_WIFI_COMPLEX_H
#define PENSTOCK_RX_WIFI_COMPLEX_H

#include <penstock/penstock.h>

#include <math.h>

#define TWO_PI 6.283185307179586

static inline penstock_cf32 cf32_add(penstock_cf32 a, penstock_cf32 b)
{
    return (penstock_cf32){a.re + b.re, a.im + b.im};
}

static inline penstock_cf32 cf32_sub(penstock_cf32 a, penstock_cf32 b)
{
    return (penstock_cf32){a.re - b.re, a.im - b.im};
}

static inline penstock_cf32 cf32_mul(penstock_cf32 a, penstock_cf32 b)
{
    return (penstock_cf32){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* a times the conjugate of b */
static inline penstock_cf32 cf32_mul_conj(penstock_cf32 a, penstock_cf32 b)
{
    return (penstock_cf32){a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
}

static inline penstock_cf32 cf32_scale(penstock_cf32 a, float factor)
{
    return (penstock_cf32){a.re * factor, a.im * factor};
}

static inline float cf32_power(penstock_cf32 a)
{
    return a.re * a.re + a.im * a.im;
}

static inline float cf32_angle(penstock_cf32 a)
{
    return atan2f(a.im, a.re);
}

/* exp(2 pi i turns) */
static inline penstock_cf32 cf32_turn(double turns)
{
    double angle = TWO_PI * (turns - floor(turns));
    return (penstock_cf32){(float)cos(angle), (float)sin(angle)};
}

#endif
