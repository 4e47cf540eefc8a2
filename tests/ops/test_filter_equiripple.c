/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Equiripple taps: their error, measured on a grid of its own, is level over as many extrema as the alternation theorem
 * asks for, which proves that no other taps are better; and with liquid-dsp, where it is there, the taps are the same.
 */
#include "test.h"

#include <penstock/penstock.h>
#ifdef PENSTOCK_TEST_LIQUID
#include <liquid/liquid.h>
#endif

#define PI   3.14159265358979323846
#define MOST 2047

static float taps[MOST];

/* The response about the middle of the taps. */
static double response(size_t count, double f)
{
    double sum = 0, middle = ((double)count - 1) / 2;
    for (size_t k = 0; k < count; k++)
        sum += (double)taps[k] * cos(2 * PI * f * ((double)k - middle));
    return sum;
}

struct scan {
    double largest, before;
    size_t extrema; /* of alternating sign, near the largest allowed error */
};

/* Counts each change of sign between places where the error is nearly `ripple`. */
static void scan_band(struct scan *scan, size_t count, double from, double to, double gain, double weight,
                      double ripple)
{
    size_t points = 40 * count + 2;
    for (size_t i = 0; i <= points; i++) {
        double error = weight * (response(count, from + (to - from) * (double)i / (double)points) - gain);
        scan->largest = fmax(scan->largest, fabs(error));
        if (fabs(error) > 0.98 * ripple && error * scan->before <= 0) {
            scan->extrema++;
            scan->before = error;
        }
    }
}

static void check_design(size_t count, penstock_band band, const double *edges, double stop_weight)
{
    struct scan scan = {0};
    double ripple = 0;
    bool three = band == PENSTOCK_BAND_PASS || band == PENSTOCK_BAND_REJECT;
    int status = penstock_taps_equiripple(taps, count, band, edges, stop_weight, &ripple);
    CHECK(!status, "%zu taps, band %d: %s", count, (int)band, penstock_error_text());
    if (status)
        return;
    for (int b = 0; b < (three ? 3 : 2); b++) {
        bool pass = (b % 2 == 0) == (band == PENSTOCK_LOW_PASS || band == PENSTOCK_BAND_REJECT);
        scan_band(&scan, count, b ? edges[2 * b - 1] : 0, b < (three ? 2 : 1) ? edges[2 * b] : 0.5, pass ? 1 : 0,
                  pass ? 1 : stop_weight, ripple);
    }
    CHECK(scan.largest < 1.01 * ripple && scan.largest > 0.99 * ripple,
          "%zu taps, band %d: the error is %.4g, not %.4g", count, (int)band, scan.largest, ripple);
    CHECK(scan.extrema >= (count + 1) / 2 + 1, "%zu taps, band %d: %zu extrema, not %zu", count, (int)band,
          scan.extrema, (count + 1) / 2 + 1);
    for (size_t k = 0; k < count; k++)
        CHECK(taps[k] == taps[count - 1 - k], "tap %zu is not that of the other end", k);
}

static void check_designs(void)
{
    static const double low[] = {0.1, 0.15}, wide[] = {0.2, 0.4}, high[] = {0.2, 0.26},
                        inner[] = {0.1, 0.15, 0.3, 0.35}, narrow[] = {0.02, 0.025};
    for (size_t count = 3; count < 60; count += 1 + count / 5) {
        check_design(count, PENSTOCK_LOW_PASS, low, 1);
        check_design(count, PENSTOCK_LOW_PASS, low, 20);
        check_design(count < 20 ? count : 20, PENSTOCK_LOW_PASS, wide, 1);
        check_design(count | 1, PENSTOCK_HIGH_PASS, high, 5);
        if (count > 6) {
            check_design(count, PENSTOCK_BAND_PASS, inner, 1);
            check_design(count | 1, PENSTOCK_BAND_REJECT, inner, 3);
        }
    }
    check_design(101, PENSTOCK_LOW_PASS, low, 10);
    check_design(401, PENSTOCK_LOW_PASS, narrow, 1);
}

#ifdef PENSTOCK_TEST_LIQUID
static void check_liquid(size_t count)
{
    static const double edges[] = {0.12, 0.18};
    float theirs[MOST], bands[] = {0, 0.12f, 0.18f, 0.5f}, gains[] = {1, 0}, weights[] = {1, 4};
    liquid_firdespm_wtype types[] = {LIQUID_FIRDESPM_FLATWEIGHT, LIQUID_FIRDESPM_FLATWEIGHT};
    double worst = 0;
    firdespm_run((unsigned)count, 2, bands, gains, weights, types, LIQUID_FIRDESPM_BANDPASS, theirs);
    CHECK_OK(penstock_taps_equiripple(taps, count, PENSTOCK_LOW_PASS, edges, 4, NULL));
    for (size_t k = 0; k < count; k++)
        worst = fmax(worst, fabs((double)taps[k] - (double)theirs[k]));
    CHECK(worst < 2e-4, "%zu taps: liquid's differ by %.3g", count, worst);
}
#endif

static void check_refusals(void)
{
    static const double edges[] = {0.1, 0.2, 0.3, 0.25}, order[] = {0.2, 0.1};
    CHECK_EQ(penstock_taps_equiripple(NULL, 9, PENSTOCK_LOW_PASS, edges, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_equiripple(taps, 9, PENSTOCK_LOW_PASS, NULL, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_equiripple(taps, 2, PENSTOCK_LOW_PASS, edges, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_equiripple(taps, 2048, PENSTOCK_LOW_PASS, edges, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_equiripple(taps, 9, (penstock_band)4, edges, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_equiripple(taps, 9, PENSTOCK_LOW_PASS, order, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_equiripple(taps, 9, PENSTOCK_BAND_PASS, edges, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_equiripple(taps, 8, PENSTOCK_HIGH_PASS, edges, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_taps_equiripple(taps, 9, PENSTOCK_LOW_PASS, edges, 0, NULL), PENSTOCK_ERR_ARGUMENT);
}

int main(void)
{
    check_designs();
#ifdef PENSTOCK_TEST_LIQUID
    for (size_t count = 11; count < 50; count += 6)
        check_liquid(count);
#endif
    check_refusals();
    return test_finish();
}
