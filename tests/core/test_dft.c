/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The double-precision DFT against its definition, summed in long double. */
#include "backends/backend.h"
#include "core/base/memory.h"
#include "test.h"

#include <penstock/penstock.h>

#define TAU 6.283185307179586476925286766559005768L

/* exp(2 pi i k / n), k < n. */
static long double (*make_roots(size_t n))[2]
{
    long double(*roots)[2] = malloc(n * sizeof *roots);
    for (size_t k = 0; k < n; k++) {
        roots[k][0] = cosl(TAU * (long double)k / (long double)n);
        roots[k][1] = sinl(TAU * (long double)k / (long double)n);
    }
    return roots;
}

/* Relative L2 error over the bins 0, step, 2 step ... */
static double error_of(size_t n, penstock_direction direction, size_t step, uint64_t seed)
{
    double *x = malloc(2 * n * sizeof *x), *got = malloc(2 * n * sizeof *got);
    long double(*roots)[2] = make_roots(n), error = 0, norm = 0;
    for (size_t i = 0; i < 2 * n; i++)
        got[i] = x[i] = test_uniform(&seed);
    CHECK_OK(penstock__dft(got, n, direction));
    for (size_t k = 0; k < n; k += step) {
        long double re = 0, im = 0;
        for (size_t j = 0, at = 0; j < n; j++, at = (at + k) % n) {
            long double c = roots[at][0], s = direction == PENSTOCK_FORWARD ? -roots[at][1] : roots[at][1];
            re += x[2 * j] * c - x[2 * j + 1] * s;
            im += x[2 * j] * s + x[2 * j + 1] * c;
        }
        error += (got[2 * k] - re) * (got[2 * k] - re) + (got[2 * k + 1] - im) * (got[2 * k + 1] - im);
        norm += re * re + im * im;
    }
    free(roots);
    free(got);
    free(x);
    return (double)sqrtl(error / norm);
}

static void short_lengths(void)
{
    for (size_t n = 1; n <= 512; n++) {
        penstock_direction direction = n % 2 ? PENSTOCK_FORWARD : PENSTOCK_REVERSE;
        double error = error_of(n, direction, 1, n);
        CHECK(error < 1e-15, "n %zu: error %g", n, error);
        error = error_of(n, direction == PENSTOCK_FORWARD ? PENSTOCK_REVERSE : PENSTOCK_FORWARD, n / 16 + 1, n);
        CHECK(error < 1e-15, "n %zu, the other direction: error %g", n, error);
    }
}

static void long_lengths(void)
{
    static const size_t lengths[] = {521, 61 * 61, 67 * 64, 4099, 8192, 10007, 30030, 65536, 65537, 100000, 1 << 20};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        double error = error_of(lengths[i], i % 2 ? PENSTOCK_FORWARD : PENSTOCK_REVERSE, lengths[i] / 5, i);
        CHECK(error < 2e-15, "n %zu: error %g", lengths[i], error);
    }
}

static void unit_roots(void)
{
    double re, im;
    for (uint64_t n = 1; n < 300; n++)
        for (uint64_t k = 0; k < n; k++) {
            penstock__unit_root(&re, &im, k, n);
            CHECK(fabsl(re - cosl(TAU * k / n)) < 2e-16L && fabsl(im - sinl(TAU * k / n)) < 2e-16L,
                  "k %" PRIu64 " of %" PRIu64 ": %.17g %.17g", k, n, re, im);
        }
    penstock__unit_root(&re, &im, 1, 4);
    CHECK(re == 0 && im == 1, "a quarter turn is %g %g", re, im);
    penstock__unit_root(&re, &im, (uint64_t)3 << 30, (uint64_t)1 << 32);
    CHECK(re == 0 && im == -1, "three quarters of a turn are %g %g", re, im);
    penstock__unit_root(&re, &im, 3, 8);
    CHECK(re == -im && re == -sqrt(0.5), "three eighths of a turn are %g %g", re, im);
}

/* By their symmetries, and each by itself. */
static void all_roots(void)
{
    static const size_t lengths[] = {509, 1000, 4096, 6000, 8190, 16388, 65537};
    static double pairs[2 * 65537];
    size_t compared = 0;
    for (size_t i = 1; i < 300 + sizeof lengths / sizeof *lengths; i++) {
        size_t n = i < 300 ? i : lengths[i - 300];
        penstock__unit_roots(pairs, n);
        for (size_t k = 0; k < n; k++, compared++) {
            double one[2];
            penstock__unit_root(&one[0], &one[1], k, n);
            CHECK(!memcmp(one, &pairs[2 * k], sizeof one), "root %zu of %zu: %.17g %.17g alone, %.17g %.17g of all", k,
                  n, one[0], one[1], pairs[2 * k], pairs[2 * k + 1]);
        }
    }
    CHECK(compared > 140000, "only %zu roots", compared);
}

int main(void)
{
    double x[2] = {1, 2};
    CHECK_EQ(penstock__dft(x, 0, PENSTOCK_FORWARD), PENSTOCK_ERR_ARGUMENT);
    short_lengths();
    long_lengths();
    unit_roots();
    all_roots();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
