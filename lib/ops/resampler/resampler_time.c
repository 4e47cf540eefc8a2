/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Ratios of rates as fractions: the continued fraction of a double, by Euclid's algorithm on its mantissa. */
#include "ops/resampler/resampler_time.h"

#include <math.h>

struct resampler_ratio penstock__resampler_ratio(double ratio)
{
    int exponent;
    uint64_t up = (uint64_t)ldexp(frexp(ratio, &exponent), 53);
    uint64_t down = (uint64_t)1 << 53;
    for (; exponent > 0; exponent--)
        down >>= 1;
    for (; exponent < 0; exponent++)
        down <<= 1;
    struct resampler_ratio before = {0, 1}, now = {1, 0};
    while (down) { /* each convergent is smaller than the fraction itself, so that none overflows */
        uint64_t whole = up / down, rest = up % down;
        struct resampler_ratio next = {whole * now.up + before.up, whole * now.down + before.down};
        before = now;
        now = next;
        up = down;
        down = rest;
        if (now.up && (double)now.up / (double)now.down == ratio)
            break;
    }
    return now;
}

struct resampler_ratio penstock__resampler_reduced(uint64_t up, uint64_t down)
{
    uint64_t a = up, b = down;
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (struct resampler_ratio){up / a, down / a};
}

struct resampler_clock penstock__resampler_clock(struct resampler_ratio ratio, int fine)
{
    uint64_t times = fine ? RESAMPLER_UNITS / ratio.up : 1;
    return (struct resampler_clock){
        .unit = ratio.up * times, .whole = ratio.down / ratio.up, .part = ratio.down % ratio.up * times};
}

/* n up / down and its rest, digit by digit, as the product may take more than 64 bits; down <= 2^63. */
static uint64_t scale(struct resampler_ratio ratio, uint64_t n, uint64_t *rest)
{
    const uint64_t whole = ratio.up / ratio.down, part = ratio.up % ratio.down;
    uint64_t quotient = 0;
    *rest = 0;
    for (int bit = 63; bit >= 0; bit--) {
        quotient *= 2;
        *rest *= 2;
        if (*rest >= ratio.down)
            *rest -= ratio.down, quotient++;
        if (!(n >> bit & 1))
            continue;
        *rest += part;
        if (*rest >= ratio.down)
            *rest -= ratio.down, quotient++;
    }
    return quotient + n * whole;
}

uint64_t penstock__resampler_scaled(struct resampler_ratio ratio, uint64_t n)
{
    uint64_t rest, quotient = scale(ratio, n, &rest);
    return quotient + (rest > 0);
}

uint64_t penstock__resampler_nearest(struct resampler_ratio ratio, uint64_t n)
{
    uint64_t rest, quotient = scale(ratio, n, &rest);
    return quotient + (rest >= ratio.down - rest);
}
