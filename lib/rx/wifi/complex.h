/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Complex arithmetic on penstock_cf32, without the checks for infinities that C's own multiplication makes. */
#ifndef PENSTOCK_RX_WIFI_COMPLEX_H
#define PENSTOCK_RX_WIFI_COMPLEX_H

#include "vector/angle.h"

#include <penstock/penstock.h>

#include <math.h>
#include <stdbool.h>

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

static inline penstock_cf32 cf32_sum4(const penstock_cf32 *a)
{
    return cf32_add(cf32_add(a[0], a[1]), cf32_add(a[2], a[3]));
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
    return penstock__angle(a.im, a.re);
}

/*
 * exp(2 pi i turns), exact to 3e-9, which a float does not tell from exact; |turns| < 2^48. Taylor's series within an
 * eighth of a turn of the nearest quarter, which is found by adding what has no fraction; without branches, for loops
 * that compilers turn into vector code.
 */
static inline penstock_cf32 cf32_turn(double turns)
{
    const double shift = 0x1.8p52, quarters = (4 * turns + shift) - shift;
    const double quarter = quarters - 4 * ((quarters * 0.25 + shift) - shift); /* -2 .. 2 */
    const double x = (4 * turns - quarters) * (TWO_PI / 4), z = x * x;
    const double sine = x * (1 + z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880)))));
    const double cosine =
        1 + z * (-1.0 / 2 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 - z * (1.0 / 3628800)))));
    const double re = 1 - fabs(quarter), im = quarter * (1 + re); /* of whole quarters: -1, 0 or 1 */
    return (penstock_cf32){(float)(cosine * re - sine * im), (float)(cosine * im + sine * re)};
}

#endif
