/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Taps by the window method and of the root raised cosine.
 *
 * J. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", Proc. IEEE Int. Symp. Circuits
 * and Systems, 1974: the window's parameter and the number of taps. J. Proakis and M. Salehi, "Digital communications",
 * 5th edition, section 9.2: the root raised cosine.
 */
#include "backends/backend.h"
#include "ops/taps/kaiser.h"

#include <math.h>
#include <stdio.h>

#define PI       3.14159265358979323846
#define MAX_TAPS ((size_t)1 << 20)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "taps: " __VA_ARGS__)

size_t penstock_taps_length(double transition, double attenuation_db)
{
    double most = (double)MAX_TAPS - 1, taps = ceil((fmax(attenuation_db, 21) - 7.95) / (14.36 * transition)) + 1;
    if (!(transition > 0 && transition <= 0.5) || !(attenuation_db >= 0 && attenuation_db <= 200) || !(taps <= most))
        return 0;
    return (size_t)taps | 1;
}

/* The symmetric window: the periodic one of a point less, whose first point comes again. */
static int fill_window(float *window, size_t count, double attenuation_db)
{
    char name[32];
    int whole = (int)penstock__kaiser_beta(attenuation_db);
    int part = (int)(1e6 * (penstock__kaiser_beta(attenuation_db) - whole));
    snprintf(name, sizeof name, "kaiser:%d.%06d", whole, part); /* a point whatever the locale says */
    if (count == 1) {
        window[0] = 1;
        return PENSTOCK_OK;
    }
    int status = penstock_window_fill(window, count - 1, name);
    window[count - 1] = window[0];
    return status;
}

/* Impulse response at time t of a filter that passes |f| < cutoff. */
static double ideal(double cutoff, double t)
{
    return fabs(t) < 1e-9 ? 2 * cutoff : sin(2 * PI * cutoff * t) / (PI * t);
}

static int check_band(size_t count, penstock_band band, double low, double high, double attenuation_db)
{
    bool two = band == PENSTOCK_BAND_PASS || band == PENSTOCK_BAND_REJECT;
    if ((unsigned)band > PENSTOCK_BAND_REJECT)
        return bad("band %d is not PENSTOCK_LOW_PASS, _HIGH_PASS, _BAND_PASS or _BAND_REJECT", (int)band);
    if (count < 1 || count > MAX_TAPS)
        return bad("%zu taps, not 1 .. %zu", count, MAX_TAPS);
    if (count % 2 == 0 && (band == PENSTOCK_HIGH_PASS || band == PENSTOCK_BAND_REJECT))
        return bad("%zu taps are an even number: they have a zero at half the sample rate, which is to pass", count);
    if (!(low > 0 && low < 0.5) || (two && !(high > low && high < 0.5)))
        return bad("band edges %g and %g are not in order between 0 and 0.5", low, high);
    if (!(attenuation_db >= 0 && attenuation_db <= 200))
        return bad("attenuation %g dB is not 0 .. 200", attenuation_db);
    return PENSTOCK_OK;
}

int penstock_taps_design(float *taps, size_t count, penstock_band band, double low, double high, double attenuation_db)
{
    double middle = ((double)count - 1) / 2, gain = 0, reference = 0;
    int status;
    if (!taps)
        return bad("taps is NULL");
    if ((status = check_band(count, band, low, high, attenuation_db)) ||
        (status = fill_window(taps, count, attenuation_db)))
        return status;
    if (band == PENSTOCK_HIGH_PASS)
        reference = 0.5;
    else if (band == PENSTOCK_BAND_PASS)
        reference = (low + high) / 2;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < count; k++) {
            double t = (double)k - middle, h = ideal(low, t), impulse = fabs(t) < 1e-9 ? 1 : 0;
            if (band == PENSTOCK_HIGH_PASS)
                h = impulse - h;
            else if (band == PENSTOCK_BAND_PASS)
                h = ideal(high, t) - h;
            else if (band == PENSTOCK_BAND_REJECT)
                h = impulse - ideal(high, t) + h;
            h *= (double)taps[k];
            if (pass)
                taps[k] = (float)(h / gain);
            else
                gain += h * cos(2 * PI * remainder(reference * t, 1));
        }
    return PENSTOCK_OK;
}

/* At time t in symbols, of unit symbol rate; its two removable singularities by their limits. */
static double root_raised_cosine(double t, double rolloff)
{
    double a = rolloff, x = 4 * a * t;
    if (fabs(t) < 1e-9)
        return 1 - a + 4 * a / PI;
    if (fabs(fabs(x) - 1) < 1e-9)
        return a / sqrt(2) * ((1 + 2 / PI) * sin(PI / (4 * a)) + (1 - 2 / PI) * cos(PI / (4 * a)));
    return (sin(PI * t * (1 - a)) + x * cos(PI * t * (1 + a))) / (PI * t * (1 - x * x));
}

int penstock_taps_root_raised_cosine(float *taps, size_t count, double samples_per_symbol, double rolloff)
{
    double gain = 0;
    if (!taps)
        return bad("taps is NULL");
    if (count < 1 || count > MAX_TAPS)
        return bad("%zu taps, not 1 .. %zu", count, MAX_TAPS);
    if (!(samples_per_symbol >= 1 && samples_per_symbol <= 1e6))
        return bad("%g samples per symbol, not 1 .. 1000000", samples_per_symbol);
    if (!(rolloff >= 0 && rolloff <= 1))
        return bad("roll-off %g is not 0 .. 1", rolloff);
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < count; k++) {
            double h = root_raised_cosine(((double)k - ((double)count - 1) / 2) / samples_per_symbol, rolloff);
            if (pass)
                taps[k] = (float)(h / gain);
            else
                gain += h;
        }
    return PENSTOCK_OK;
}
