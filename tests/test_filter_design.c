/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Tap designs by what they are asked to do: gain within the ripple in the pass band, below the attenuation in the stop
 * band, one half at the edges, from a frequency response summed in double precision. The root raised cosine by its
 * zeros at the other symbols, after itself. And the refusals.
 */
#include "test.h"

#include <penstock/penstock.h>

#define PI 3.14159265358979323846

static float taps[1 << 16];

/* Gain at a frequency, with the delay of (count - 1) / 2 taken out. */
static double gain(size_t count, double frequency)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += (double)taps[k] * cos(2 * PI * remainder(frequency * ((double)k - ((double)count - 1) / 2), 1));
    return sum;
}

static bool passes(penstock_band band, double f, double low, double high)
{
    switch (band) {
    case PENSTOCK_LOW_PASS:
        return f < low;
    case PENSTOCK_HIGH_PASS:
        return f > low;
    case PENSTOCK_BAND_PASS:
        return f > low && f < high;
    case PENSTOCK_BAND_REJECT:
        return f < low || f > high;
    }
    return false;
}

/* Kaiser's formulas meet the attenuation to about one decibel. */
static void check_band(penstock_band band, double low, double high, double transition, double attenuation)
{
    size_t count = penstock_taps_length(transition, attenuation);
    double ripple = pow(10, -(attenuation - 1.5) / 20) + 1e-6;
    bool two = band == PENSTOCK_BAND_PASS || band == PENSTOCK_BAND_REJECT;
    if (two) /* two edges' ripples add */
        ripple *= 2;
    CHECK(count % 2 == 1 && count > 3, "%zu taps", count);
    CHECK_OK(penstock_taps_design(taps, count, band, low, high, attenuation));
    for (double f = 0; f <= 0.5; f += 0.0007) {
        bool near = fabs(f - low) < transition / 2 || (two && fabs(f - high) < transition / 2);
        double expected = passes(band, f, low, high);
        CHECK(near || fabs(gain(count, f) - expected) < ripple, "band %d, %g .. %g, %g dB: gain %g at %g", (int)band,
              low, high, attenuation, gain(count, f), f);
    }
    CHECK(fabs(gain(count, low) - 0.5) < 0.02, "band %d: gain %g at the edge", (int)band, gain(count, low));
    double one = band == PENSTOCK_HIGH_PASS ? 0.5 : band == PENSTOCK_BAND_PASS ? (low + high) / 2 : 0;
    CHECK(fabs(gain(count, one) - 1) < 1e-6, "band %d: gain %.9g where it is to be one", (int)band, gain(count, one));
    for (size_t k = 0; k < count / 2; k++)
        CHECK(taps[k] == taps[count - 1 - k], "band %d: tap %zu has no twin", (int)band, k);
}

static void check_bands(void)
{
    static const double attenuations[] = {30, 60, 80, 100};
    for (int i = 0; i < 4; i++)
        for (int band = PENSTOCK_LOW_PASS; band <= PENSTOCK_BAND_REJECT; band++)
            check_band((penstock_band)band, 0.11, 0.23, i % 2 ? 0.02 : 0.05, attenuations[i]);
}

static void check_root_raised_cosine(double samples_per_symbol, double rolloff)
{
    size_t count = (size_t)(60 * samples_per_symbol) | 1, step = (size_t)samples_per_symbol;
    CHECK_OK(penstock_taps_root_raised_cosine(taps, count, samples_per_symbol, rolloff));
    for (size_t symbol = 0; symbol < 20; symbol++) {
        double sum = 0;
        for (size_t k = symbol * step; k < count; k++)
            sum += (double)taps[k] * (double)taps[k - symbol * step];
        CHECK(fabs(sum - (symbol == 0)) < (rolloff < 0.1 ? 0.02 : 2e-3), "roll-off %g, symbol %zu: %g", rolloff, symbol,
              sum);
    }
}

static void check_refusals(void)
{
    CHECK_EQ(penstock_taps_length(0, 60), 0);
    CHECK_EQ(penstock_taps_length(0.6, 60), 0);
    CHECK_EQ(penstock_taps_length(NAN, 60), 0);
    CHECK_EQ(penstock_taps_length(0.1, 201), 0);
    CHECK_EQ(penstock_taps_length(1e-9, 60), 0);
    CHECK_EQ(penstock_taps_design(NULL, 5, PENSTOCK_LOW_PASS, 0.1, 0, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_design(taps, 0, PENSTOCK_LOW_PASS, 0.1, 0, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_design(taps, 6, PENSTOCK_HIGH_PASS, 0.1, 0, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_design(taps, 5, PENSTOCK_LOW_PASS, 0.5, 0, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_design(taps, 5, PENSTOCK_BAND_PASS, 0.2, 0.1, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_design(taps, 5, PENSTOCK_LOW_PASS, 0.1, 0, -1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_design(taps, 5, (penstock_band)4, 0.1, 0.2, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_root_raised_cosine(taps, 5, 0.5, 0.2), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_root_raised_cosine(taps, 5, 2, 1.1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_root_raised_cosine(NULL, 5, 2, 0.3), PENSTOCK_ERR_ARGUMENT);
}

int main(void)
{
    CHECK_OK(penstock_taps_design(taps, 1, PENSTOCK_LOW_PASS, 0.1, 0, 60));
    CHECK(taps[0] == 1, "one tap of a low-pass is %g", (double)taps[0]);
    check_bands();
    check_root_raised_cosine(4, 0.25); /* t = 1 / (4 rolloff) falls on a sample */
    check_root_raised_cosine(8, 0.35);
    check_root_raised_cosine(5, 1);
    check_root_raised_cosine(4, 0);
    check_refusals();
    return test_finish();
}
