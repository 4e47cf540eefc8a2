/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Convolution, correlation and the chirp-z transform against their definitions summed in double precision; a taps' part
 * beyond a filter's length; refusals; and every allocation failing. */
#include "core/base/memory.h"
#include "test.h"

#include <penstock/penstock.h>

#define PI   3.14159265358979323846
#define MOST 9000
#define LONG (((size_t)1 << 20) + 5)

static penstock_context *context;
static penstock_cf32 a[MOST], b[MOST], out[2 * MOST];

static void fill(penstock_cf32 *values, size_t count, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (penstock_cf32){(float)test_uniform(seed), (float)test_uniform(seed)};
}

static double bound(double factor, size_t values)
{
    double log = 1;
    while ((double)values > pow(2, log))
        log++;
    return factor * sqrt(log);
}

/* Sum of a[m - k] b[k], or of a[m - (b_count - 1) + k] conj(b[k]). */
static void direct(double y[2], size_t m, size_t a_count, size_t b_count, bool correlate)
{
    y[0] = y[1] = 0;
    for (size_t k = 0; k < b_count; k++) {
        size_t at = correlate ? m + k - (b_count - 1) : m - k; /* wraps where there is none */
        double im = correlate ? -(double)b[k].im : (double)b[k].im, re = (double)b[k].re;
        if (at >= a_count)
            continue;
        y[0] += (double)a[at].re * re - (double)a[at].im * im;
        y[1] += (double)a[at].re * im + (double)a[at].im * re;
    }
}

static void check_pair(size_t a_count, size_t b_count, bool correlate, uint64_t *seed)
{
    double difference = 0, power = 0;
    size_t count = a_count + b_count - 1, step = count * b_count > 2000000 ? 37 : 1;
    fill(a, a_count, seed);
    fill(b, b_count, seed);
    CHECK_OK((correlate ? penstock_correlate : penstock_convolve)(context, out, a, a_count, b, b_count, "cpu"));
    for (size_t m = 0; m < count; m += step) {
        double y[2];
        direct(y, m, a_count, b_count, correlate);
        difference += pow((double)out[m].re - y[0], 2) + pow((double)out[m].im - y[1], 2);
        power += y[0] * y[0] + y[1] * y[1];
    }
    CHECK(sqrt(difference / power) <= bound(2e-7, count), "%zu and %zu samples: error %.3g", a_count, b_count,
          sqrt(difference / power));
}

static void check_zoom(size_t bins, size_t count, double start, double step, uint64_t *seed)
{
    double difference = 0, power = 0;
    size_t every = bins * count > 2000000 ? 41 : 1;
    fill(a, count, seed);
    CHECK_OK(penstock_zoom(context, out, bins, a, count, start, step, "cpu"));
    for (size_t k = 0; k < bins; k += every) {
        double y[2] = {0, 0}, frequency = start + (double)k * step;
        for (size_t j = 0; j < count; j++) {
            double angle = -2 * PI * remainder(frequency * (double)j, 1), c = cos(angle), s = sin(angle);
            y[0] += (double)a[j].re * c - (double)a[j].im * s;
            y[1] += (double)a[j].re * s + (double)a[j].im * c;
        }
        difference += pow((double)out[k].re - y[0], 2) + pow((double)out[k].im - y[1], 2);
        power += y[0] * y[0] + y[1] * y[1];
    }
    CHECK(sqrt(difference / power) <= bound(4e-7, bins + 2 * count), "%zu bins of %zu samples: error %.3g", bins, count,
          sqrt(difference / power));
}

/* Both signals are longer than a filter: two parts. Impulses keep the sums short. */
static void check_parts(void)
{
    penstock_cf32 *x = calloc(LONG, sizeof *x), *y = calloc(LONG, sizeof *y), *z = calloc(2 * LONG, sizeof *z);
    double error = 0;
    CHECK(x && y && z, "out of memory");
    x[3] = (penstock_cf32){1, 0};
    x[LONG - 1] = (penstock_cf32){0, 2};
    y[0] = (penstock_cf32){1, 1};
    y[LONG - 2] = (penstock_cf32){3, 0};
    CHECK_OK(penstock_convolve(context, z, x, LONG, y, LONG, "cpu"));
    z[3].re -= 1, z[3].im -= 1;
    z[LONG + 1].re -= 3;
    z[LONG - 1].re += 2, z[LONG - 1].im -= 2;
    z[2 * LONG - 3].im -= 6;
    for (size_t i = 0; i < 2 * LONG - 1; i++)
        error = fmax(error, (double)fmaxf(fabsf(z[i].re), fabsf(z[i].im)));
    CHECK(error < 1e-5, "worst error %g", error);
    free(x);
    free(y);
    free(z);
}

static void check_refusals(void)
{
    CHECK_EQ(penstock_convolve(context, out, a, 0, b, 1, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_convolve(context, NULL, a, 1, b, 1, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_correlate(context, out, a, 1, NULL, 1, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_convolve(context, out, a, 1, b, 1, "no such device"), PENSTOCK_ERR_NO_DEVICE);
    CHECK_EQ(penstock_zoom(context, out, 0, a, 5, 0, 0.1, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_zoom(context, out, 5, a, 5, NAN, 0.1, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_zoom(context, out, 5, a, 5, 0, 1.1, "cpu"), PENSTOCK_ERR_ARGUMENT);
    b[0].re = NAN;
    CHECK_EQ(penstock_convolve(context, out, a, 9, b, 1, "cpu"), PENSTOCK_ERR_ARGUMENT);
}

static void sweep_allocations(void)
{
    long before = penstock__memory_calls(), live = penstock__memory_live(), calls;
    CHECK_OK(penstock_zoom(context, out, 50, a, 60, 0.1, 0.01, "cpu"));
    calls = penstock__memory_calls() - before;
    CHECK(calls > 10, "only %ld allocations", calls);
    for (long k = 0; k < calls; k++) {
        penstock__memory_fail_at(k);
        penstock_zoom(context, out, 50, a, 60, 0.1, 0.01, "cpu");
        CHECK_OK(penstock_zoom(context, out, 50, a, 60, 0.1, 0.01, "cpu"));
        penstock__memory_fail_at(-1);
        CHECK_EQ(penstock__memory_live(), live);
    }
}

int main(void)
{
    static const size_t counts[] = {1, 2, 3, 64, 257, 1000, 4096, MOST};
    uint64_t seed = 11;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 8; j++)
            check_pair(counts[i], counts[j], (i + j) % 2, &seed);
    check_zoom(1, 1, 0.3, 0.2, &seed);
    check_zoom(1000, 1000, 0, 1e-3, &seed); /* a DFT */
    check_zoom(400, 3000, 0.2, 1e-6, &seed);
    check_zoom(3000, 77, -0.5, 1 / 3000.0, &seed);
    check_zoom(257, MOST, 0.9, -0.01234567, &seed);
    check_parts();
    check_refusals();
    sweep_allocations();
    penstock_context_free(context);
    return test_finish();
}
