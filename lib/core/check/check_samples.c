/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "core/check/check_samples.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HALF 65504.0

void penstock__check_put(void *samples, penstock_format format, size_t i, double value)
{
    switch (format) {
    case PENSTOCK_CS16:
        ((int16_t *)samples)[i] = (int16_t)value;
        break;
    case PENSTOCK_CS8:
        ((int8_t *)samples)[i] = (int8_t)value;
        break;
    case PENSTOCK_CU8:
        ((uint8_t *)samples)[i] = (uint8_t)(value + 127.5);
        break;
    case PENSTOCK_CF16: {
        const float single = (float)value;
        penstock_half_from_float(&((uint16_t *)samples)[i], &single, 1);
        break;
    }
    default:
        ((float *)samples)[i] = (float)value;
        break;
    }
}

double penstock__check_get(const void *samples, penstock_format format, size_t i)
{
    switch (format) {
    case PENSTOCK_CS16:
        return ((const int16_t *)samples)[i];
    case PENSTOCK_CS8:
        return ((const int8_t *)samples)[i];
    case PENSTOCK_CU8:
        return ((const uint8_t *)samples)[i] - 127.5;
    case PENSTOCK_CF16: {
        float single;
        penstock_half_to_float(&single, &((const uint16_t *)samples)[i], 1);
        return (double)single;
    }
    default:
        return (double)((const float *)samples)[i];
    }
}

double penstock__check_soft_bit(double u, double level, unsigned bits, unsigned bit)
{
    double nearest[2] = {HUGE_VAL, HUGE_VAL};
    for (unsigned i = 0; i < 1u << bits; i++) {
        double distance = u - level * (2.0 * i + 1 - (double)(1u << bits));
        unsigned value = (i ^ i >> 1) >> (bits - 1 - bit) & 1;
        nearest[value] = fmin(nearest[value], distance * distance);
    }
    return level > 0 ? (nearest[1] - nearest[0]) / (4 * level) : 0;
}

int penstock__check_run(struct penstock__executor *executor, const struct penstock__batch *batch, size_t bytes)
{
    memset(batch->out, PENSTOCK__GUARD, bytes + PENSTOCK__GUARD_BYTES);
    int status = penstock__executor_submit(executor, 0, batch);
    return status ? status : penstock__executor_wait(executor, 0);
}

bool penstock__check_guarded(const void *result, size_t bytes)
{
    const unsigned char *behind = (const unsigned char *)result + bytes;
    for (size_t i = 0; i < PENSTOCK__GUARD_BYTES; i++)
        if (behind[i] != PENSTOCK__GUARD)
            return false;
    return true;
}

/* ---------------------------------------------------------------- level ----------------------- */

/*
 * How strong the samples of a transform's self-check are. At full scale they suit windows and scales about one; with
 * others their squares would leave the range of floats, above or below, and neither would prove anything.
 */
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

/* Infinity is right for what is too large, and steps are 2^-24 where a half is small. */
double penstock__check_half_error(double value, double want)
{
    if (fabs(want) >= MOST_HALF && fabs(value) >= MOST_HALF && signbit(value) == signbit(want))
        return 0;
    double error = fabs(value - want) - 0x1p-25;
    return error < 0 ? 0 : error; /* NaN stays */
}

/* What is below the smallest normal float may be anything as small, and so may the squares that it is the sum of. */
double penstock__check_float_error(double value, double want)
{
    double error = fabs(value - want) - 2 * (double)FLT_MIN;
    return error < 0 ? 0 : error; /* NaN stays */
}
