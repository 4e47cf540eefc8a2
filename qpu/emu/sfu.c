/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Special functions. The hardware's tables are not published; what was measured is an error of some 2^-14. Here 64
 * chords stand for each function and the result is 2^-15 too large (the logarithm's: too small), so that exp2(0) is
 * 1.000031 as measured, and a program that needs more digits must refine them. Only 16 bits of the fraction are kept.
 */
#include <math.h>
#include <string.h>

#include "alu.h"

enum { CHORDS = 64 };

static const uint32_t SIGN = 0x80000000u, INFINITE = 0x7f800000u;

static uint32_t bits_of(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    if (!(fabs(value) >= 0x1p-126))
        return 0;
    if (fabs(value) >= 0x1p128)
        return INFINITE | (value < 0 ? SIGN : 0);
    memcpy(&bits, &narrow, sizeof bits);
    return bits & ~UINT32_C(0x7f);
}

/* f between the ends of the chord that x lies on; x in [first, first + span). */
static double on_chord(double (*f)(double), double x, double first, double span)
{
    double step = span / CHORDS, index = floor((x - first) / step);
    double low = first + index * step, part = (x - low) / step;
    return f(low) + part * (f(low + step) - f(low));
}

static double reciprocal(double x)
{
    return 1 / x;
}

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

static uint32_t of_zero(unsigned function)
{
    switch (function) {
    case 2:
        return bits_of(1 + 0x1p-15);
    case 3:
        return INFINITE | SIGN;
    default:
        return INFINITE;
    }
}

static uint32_t of_infinite(unsigned function, bool negative)
{
    if (function == 3 || (function == 2 && !negative))
        return INFINITE;
    return 0;
}

uint32_t qpu_emu__sfu(unsigned function, uint32_t operand)
{
    const double excess = 1 + 0x1p-15;
    uint32_t magnitude = function == 1 || function == 3 ? operand & ~SIGN : operand;
    float narrow;
    double x, fraction;
    int exponent;
    if (!(operand & INFINITE))
        return of_zero(function);
    if ((operand & INFINITE) == INFINITE)
        return of_infinite(function, operand & SIGN);
    memcpy(&narrow, &magnitude, sizeof narrow);
    x = narrow;
    if (function == 2) {
        if (fabs(x) > 300) /* beyond float either way */
            return of_infinite(2, x < 0);
        return bits_of(ldexp(on_chord(exp2, x - floor(x), 0, 1) * excess, (int)floor(x)));
    }
    fraction = frexp(fabs(x), &exponent); /* [0.5, 1) */
    if (function == 0)
        return bits_of(copysign(ldexp(on_chord(reciprocal, fraction, 0.5, 0.5) * excess, -exponent), x));
    if (function == 3)
        return bits_of((on_chord(log2, fraction, 0.5, 0.5) + exponent) - 0x1p-15);
    if (exponent & 1) {
        fraction /= 2;
        exponent++;
    }
    return bits_of(ldexp(on_chord(reciprocal_root, fraction, 0.25, 0.75) * excess, -exponent / 2));
}
