/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Tap designs by what they are asked to do: on 2^18 points of the frequency response, in double precision, every gain
 * beyond half a transition off an edge within the attenuation of one or of zero, for designs of each kind and 200
 * random requests; one half at the edges of longer ones. The root raised cosine by its gain and its zeros at the other
 * symbols, after itself. And the refusals.
 */
#include "test.h"

#include <penstock/penstock.h>

#include <complex.h>

#define POINTS ((size_t)1 << 18) /* from 0 to the sample rate */
#define PI     3.14159265358979323846

static float taps[1 << 16];

static double complex spectrum[POINTS];

/* Gain at a frequency, with the delay of (count - 1) / 2 taken out. */
static double gain(size_t count, double frequency)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += (double)taps[k] * cos(2 * PI * remainder(frequency * ((double)k - ((double)count - 1) / 2), 1));
    return sum;
}

/* The taps' transform by the plainest way there is: radix 2 in place (Cooley and Tukey, 1965). */
static void fill_spectrum(size_t count)
{
    static double complex roots[POINTS / 2];
    for (size_t i = 0; i < POINTS / 2 && roots[0] == 0; i++)
        roots[(i + 1) % (POINTS / 2)] = cexp(-2 * PI * I * (double)((i + 1) % (POINTS / 2)) / (double)POINTS);
    for (size_t i = 0, reversed = 0; i < POINTS; i++) {
        spectrum[reversed] = i < count ? (double)taps[i] : 0;
        for (size_t bit = POINTS / 2; bit && (reversed ^= bit, !(reversed & bit)); bit /= 2)
            continue;
    }
    for (size_t half = 1; half < POINTS; half *= 2)
        for (size_t first = 0; first < POINTS; first += 2 * half)
            for (size_t k = 0; k < half; k++) {
                double complex a = spectrum[first + k];
                double complex b = spectrum[first + half + k] * roots[k * (POINTS / 2 / half)];
                spectrum[first + k] = a + b;
                spectrum[first + half + k] = a - b;
            }
}

static double gain_at_point(size_t count, size_t point)
{
    double turns = remainder((double)point / (double)POINTS * ((double)count - 1) / 2, 1);
    return creal(spectrum[point] * cexp(2 * PI * I * turns));
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

/* The largest error on all points that are at least half a transition off an edge. */
static double error_of(size_t count, penstock_band band, double low, double high, double transition)
{
    bool two = band == PENSTOCK_BAND_PASS || band == PENSTOCK_BAND_REJECT;
    double largest = 0;
    fill_spectrum(count);
    for (size_t point = 0; point <= POINTS / 2; point++) {
        double f = (double)point / (double)POINTS, expected = passes(band, f, low, high);
        if (fabs(f - low) >= transition / 2 && !(two && fabs(f - high) < transition / 2))
            largest = fmax(largest, fabs(gain_at_point(count, point) - expected));
    }
    return largest;
}

static size_t check_band(penstock_band band, double low, double high, double transition, double attenuation)
{
    size_t count = sizeof taps / sizeof taps[0];
    int status = penstock_taps_measured(taps, &count, band, low, high, transition, attenuation);
    CHECK(!status && count % 2 == 1, "band %d, %g .. %g, %g dB: %zu taps: %s", (int)band, low, high, attenuation, count,
          penstock_error_text());
    double error = error_of(count, band, low, high, transition);
    CHECK(error <= pow(10, -attenuation / 20), "band %d, %g .. %g, transition %g, %zu taps: %g dB, not %g", (int)band,
          low, high, transition, count, -20 * log10(error), attenuation);
    double one = band == PENSTOCK_HIGH_PASS ? 0.5 : band == PENSTOCK_BAND_PASS ? (low + high) / 2 : 0;
    CHECK(fabs(gain(count, one) - 1) < 1e-6, "band %d: gain %.9g where it is to be one", (int)band, gain(count, one));
    for (size_t k = 0; k < count / 2; k++)
        CHECK(taps[k] == taps[count - 1 - k], "band %d: tap %zu has no twin", (int)band, k);
    return count;
}

static void check_bands(void)
{
    static const double attenuations[] = {30, 60, 80, 100};
    for (int i = 0; i < 4; i++)
        for (int band = PENSTOCK_LOW_PASS; band <= PENSTOCK_BAND_REJECT; band++) {
            size_t count = check_band((penstock_band)band, 0.11, 0.23, i % 2 ? 0.02 : 0.05, attenuations[i]);
            CHECK(fabs(gain(count, 0.11) - 0.5) < 0.02, "band %d: gain %g at the edge", band, gain(count, 0.11));
        }
    check_band(PENSTOCK_BAND_REJECT, 0.1, 0.15, 0.04, 80);
    check_band(PENSTOCK_HIGH_PASS, 0.1, 0, 0.05, 20);
    check_band(PENSTOCK_LOW_PASS, 0.1, 0, 0.05, 20);
    check_band(PENSTOCK_LOW_PASS, 0.25, 0, 0.5, 3);
    check_band(PENSTOCK_BAND_PASS, 0.1, 0.11, 0.001, 120);
}

/* 0 .. 1 */
static double share(void)
{
    static uint64_t state = 18;
    return (test_uniform(&state) + 1) / 2;
}

/* 200 requests: edges with room for the transitions, wide and narrow, 0 to 125 dB. */
static void check_random(void)
{
    for (int i = 0; i < 200; i++) {
        penstock_band band = (penstock_band)(i % 4);
        double transition = 0.001 * pow(200, share()), attenuation = 125 * share();
        double room = 0.5 - transition, low = transition / 2 + room * share(), high = low;
        if (band == PENSTOCK_BAND_PASS || band == PENSTOCK_BAND_REJECT) {
            room = 0.5 - 2 * transition;
            low = transition / 2 + room * share();
            high = low + transition + (0.5 - transition / 2 - low - transition) * share();
        }
        check_band(band, low, high, transition, attenuation);
    }
}

/* What an equiripple design says of itself is what the points say. */
static void check_equiripple(void)
{
    for (int i = 0; i < 50; i++) {
        size_t count = 3 + (size_t)(150 * share());
        double transition = 0.02 + 0.1 * share(), low = transition / 2 + (0.5 - transition) * share();
        double edges[] = {low - transition / 2, low + transition / 2}, ripple = 0;
        int status = penstock_taps_equiripple(taps, count, PENSTOCK_LOW_PASS, edges, 1, &ripple);
        if (status == PENSTOCK_ERR_UNSUPPORTED)
            continue;
        CHECK_OK(status);
        double error = error_of(count, PENSTOCK_LOW_PASS, low, 0, transition);
        CHECK(error <= ripple / 0.995, "%zu taps: an error of %g, not %g", count, error, ripple);
    }
}

static void check_root_raised_cosine(double samples_per_symbol, double rolloff)
{
    size_t count = (size_t)(60 * samples_per_symbol) | 1, step = (size_t)samples_per_symbol;
    CHECK_OK(penstock_taps_root_raised_cosine(taps, count, samples_per_symbol, rolloff));
    CHECK(fabs(gain(count, 0) - 1) < 1e-6, "roll-off %g: a gain of %.9g", rolloff, gain(count, 0));
    double energy = 0;
    for (size_t k = 0; k < count; k++)
        energy += (double)taps[k] * (double)taps[k];
    for (size_t symbol = 0; symbol < 20; symbol++) {
        double sum = 0;
        for (size_t k = symbol * step; k < count; k++)
            sum += (double)taps[k] * (double)taps[k - symbol * step];
        sum /= energy;
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
    size_t room = 5, none = 0;
    CHECK_EQ(penstock_taps_measured(NULL, &room, PENSTOCK_LOW_PASS, 0.1, 0, 0.1, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_measured(taps, NULL, PENSTOCK_LOW_PASS, 0.1, 0, 0.1, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_measured(taps, &none, PENSTOCK_LOW_PASS, 0.1, 0, 0.1, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_measured(taps, &room, PENSTOCK_LOW_PASS, 0.1, 0, 0.1, 60), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(room, 0);
    room = sizeof taps / sizeof taps[0];
    CHECK_EQ(penstock_taps_measured(taps, &room, PENSTOCK_LOW_PASS, 0.1, 0, NAN, 60), PENSTOCK_ERR_ARGUMENT);
    room = sizeof taps / sizeof taps[0];
    CHECK_EQ(penstock_taps_measured(taps, &room, PENSTOCK_LOW_PASS, 0.1, 0, 0.1, 190), PENSTOCK_ERR_UNSUPPORTED);
    CHECK_EQ(penstock_taps_root_raised_cosine(taps, 5, 0.5, 0.2), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_root_raised_cosine(taps, 5, 2, 1.1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_root_raised_cosine(NULL, 5, 2, 0.3), PENSTOCK_ERR_ARGUMENT);
}

int main(void)
{
    CHECK_OK(penstock_taps_design(taps, 1, PENSTOCK_LOW_PASS, 0.1, 0, 60));
    CHECK(taps[0] == 1, "one tap of a low-pass is %g", (double)taps[0]);
    check_bands();
    check_random();
    check_equiripple();
    check_root_raised_cosine(4, 0.25); /* t = 1 / (4 rolloff) falls on a sample */
    check_root_raised_cosine(8, 0.35);
    check_root_raised_cosine(5, 1);
    check_root_raised_cosine(4, 0);
    check_refusals();
    return test_finish();
}
