/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Decibels of a power, for loops that are built once for each instruction set; the builds give the same bits. */
#ifndef PENSTOCK_VECTOR_DECIBEL_H
#define PENSTOCK_VECTOR_DECIBEL_H

#include <float.h>
#include <stdint.h>
#include <string.h>

/* 10 log10(power), at least -300; infinity and NaN stay. Exact to a few units of the last place: the argument is split
 * into 2^e m, m from sqrt(1/2) to sqrt(2), and ln m comes from the polynomial of S. Moshier's Cephes library, logf.c.
 */
static inline float penstock__decibel(float power)
{
    float clamped = power < 1e-30f ? 1e-30f : power, m, x, z, y, result;
    uint32_t bits;
    int32_t exponent;
    memcpy(&bits, &clamped, sizeof bits);
    exponent = (int32_t)(bits - 0x3f3504f3u) >> 23; /* the bits of sqrt(1/2) */
    bits -= (uint32_t)exponent << 23;
    memcpy(&m, &bits, sizeof m);
    x = m - 1.0f;
    z = x * x;
    y = 7.0376836292e-2f;
    y = y * x - 1.1514610310e-1f;
    y = y * x + 1.1676998740e-1f;
    y = y * x - 1.2420140846e-1f;
    y = y * x + 1.4249322787e-1f;
    y = y * x - 1.6668057665e-1f;
    y = y * x + 2.0000714765e-1f;
    y = y * x - 2.4999993993e-1f;
    y = y * x + 3.3333331174e-1f;
    y = x + (y * x * z - 0.5f * z);
    /* 10 log10(2) in two parts, the first of which times an exponent is exact; 10 log10(e). */
    result = (float)exponent * 3.01025390625f + ((float)exponent * 4.60503898e-5f + y * 4.3429448190f);
    return clamped <= FLT_MAX ? result : clamped;
}

#endif
