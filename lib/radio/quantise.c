/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From float to the formats of files: the reverse of penstock__convert(). Plain loops that the compiler turns into
 * vector code. */
#include "radio/sink.h"

#include <string.h>

/* The nearest whole number, ties to even, for |x| < 2^22: adding 1.5 * 2^23 leaves no bits for the fraction. */
static inline float nearest(float x)
{
    const float magic = 12582912.0f;
    return (x + magic) - magic;
}

/* value * scale + offset as a whole number from least to most. */
static inline float step(float value, float scale, float offset, float least, float most)
{
    float x = value == value ? value * scale + offset : offset;
    x = x > least ? x : least;
    x = x < most ? x : most;
    return nearest(x);
}

void penstock__quantise(void *out, penstock_format format, const penstock_cf32 *in, size_t count)
{
    const float *from = &in->re;
    switch (format) {
    case PENSTOCK_CS16:
        for (size_t i = 0; i < 2 * count; i++)
            ((int16_t *)out)[i] = (int16_t)step(from[i], 32768.0f, 0.0f, -32768.0f, 32767.0f);
        break;
    case PENSTOCK_CS8:
        for (size_t i = 0; i < 2 * count; i++)
            ((int8_t *)out)[i] = (int8_t)step(from[i], 128.0f, 0.0f, -128.0f, 127.0f);
        break;
    case PENSTOCK_CU8:
        for (size_t i = 0; i < 2 * count; i++)
            ((uint8_t *)out)[i] = (uint8_t)step(from[i], 128.0f, 127.5f, 0.0f, 255.0f);
        break;
    default:
        memcpy(out, in, count * sizeof *in);
    }
}
