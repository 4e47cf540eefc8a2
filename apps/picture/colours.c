/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The viridis colour map (S. van der Walt, N. Smith, 2015; CC0) by interpolation between ten of its colours. */
#include "canvas.h"

#include <math.h>

static const struct colour stops[] = {
    {68, 1, 84},    {72, 40, 120},  {62, 74, 137},  {49, 104, 142}, {38, 130, 142},
    {31, 158, 137}, {53, 183, 121}, {109, 205, 89}, {180, 222, 44}, {253, 231, 37},
};

enum { INTERVALS = sizeof stops / sizeof stops[0] - 1 };

static uint8_t between(uint8_t low, uint8_t high, double share)
{
    return (uint8_t)lrint(low + share * (high - low));
}

struct colour colour_map(double value)
{
    double position = fmin(fmax(value, 0), 1) * INTERVALS; /* NaN counts as zero */
    int below = (int)position < INTERVALS ? (int)position : INTERVALS - 1;
    struct colour low = stops[below], high = stops[below + 1];
    double share = position - below;
    return (struct colour){between(low.red, high.red, share), between(low.green, high.green, share),
                           between(low.blue, high.blue, share)};
}
