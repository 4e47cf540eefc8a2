/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * How strong the samples of a transform's self-check are. At full scale they suit windows and scales about one; with
 * others their squares would leave the range of floats, above or below, and neither would prove anything.
 */
#include "core/check_level.h"

#include <math.h>
#include <stdlib.h>

#define WIDE 40 /* powers of two on either side of one that squares and sums of long transforms leave room for */

/* Powers of two to which full scale can be set where samples stay what they are: integers keep some steps. */
static void range_of(int *least, int *most, penstock_format format)
{
    *most = 0;
    switch (format) {
    case PENSTOCK_CS16:
        *least = -8;
        return;
    case PENSTOCK_CS8:
    case PENSTOCK_CU8:
        *least = -3;
        return;
    case PENSTOCK_CF16:
        *least = -6;
        *most = 10;
        return;
    case PENSTOCK_CF32:
    case PENSTOCK_PLANAR:
    case PENSTOCK_F32:
        *least = -120;
        *most = 120;
        return;
    }
    *least = 0;
}

struct penstock__check_level penstock__check_level(const struct penstock_fft_problem *fft)
{
    double window = fft->window ? 0 : 1, scale = fabs((double)fft->scale);
    int least, most, before, behind, level = 0;
    for (size_t i = 0; i < penstock__fft_window_count(fft); i++)
        window = fmax(window, fabs((double)fft->window[i]));
    window = window > 0 ? window : 1;
    before = (int)lrint(log2(window));
    behind = (int)lrint(log2(window * scale));
    range_of(&least, &most, fft->format);
    if (abs(before) > WIDE || abs(behind) > WIDE)
        level = -(before + behind) / 2; /* as far from one before the scale as behind it */
    level = level < least ? least : level > most ? most : level;
    return (struct penstock__check_level){.samples = ldexp(1, level), .values = ldexp(window * scale, level)};
}
