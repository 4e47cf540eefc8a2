/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The mean power of transforms by each instruction set that this processor has, at every length: against
 * double-precision transforms, with a window and without, for numbers of transforms that fill the sums in float and
 * that do not, with bin 0 in front and in the middle, from samples and to means at any address with the same bits,
 * whatever was in the sums and in the memory to work in, and nothing written beside them.
 */
#include "backends/cpu/power.h"
#include "fft_error.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define MOST         ((size_t)1 << 18)
#define MOST_AVERAGE 9
#define GUARD        16

static penstock_cf32 samples[MOST + 1];
static float window[MOST], means[MOST], again[MOST + 2 * GUARD + 1];
static double right[2 * MOST], power[MOST];
static _Alignas(64) penstock_cf32 work[MOST + GUARD];
static _Alignas(64) unsigned char sums[12 * MOST + GUARD];
static size_t executed;

static void clear(size_t n, int value)
{
    memset(work, value, n * sizeof *work);
    memset(work + n, 0x5a, GUARD * sizeof *work);
    memset(sums, value, penstock__power_sum_bytes(n));
    memset(sums + penstock__power_sum_bytes(n), 0x5a, GUARD);
}

/* Of transform k. */
static void make_samples(size_t n, unsigned k, penstock_cf32 *to)
{
    uint64_t seed = n + k;
    for (size_t j = 0; j < n; j++)
        to[j] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
}

static void want(size_t n, unsigned average)
{
    memset(power, 0, n * sizeof *power);
    for (unsigned k = 0; k < average; k++) {
        make_samples(n, k, samples);
        for (size_t j = 0; j < n; j++) {
            right[2 * j] = (double)samples[j].re * (double)window[j];
            right[2 * j + 1] = (double)samples[j].im * (double)window[j];
        }
        CHECK_OK(penstock__dft(right, n, PENSTOCK_FORWARD));
        for (size_t j = 0; j < n; j++)
            power[j] += (right[2 * j] * right[2 * j] + right[2 * j + 1] * right[2 * j + 1]) / average;
    }
}

static void run(const struct power_fft *fft, float *out, unsigned average, size_t first, size_t offset)
{
    clear(fft->n, offset ? 0xff : 0x3b); /* not a number; some number */
    for (unsigned k = 0; k < average; k++) {
        make_samples(fft->n, k, samples + offset);
        fft->kernels->add(fft, sums, k, average, samples + offset, offset ? NULL : samples, work);
    }
    penstock__power_mean(fft, out, sums, average, first);
    for (size_t i = 0; i < GUARD; i++)
        CHECK(sums[penstock__power_sum_bytes(fft->n) + i] == 0x5a &&
                  ((const unsigned char *)(work + fft->n))[i] == 0x5a,
              "%s, %zu points: written beside the sums or the work", fft->kernels->name, fft->n);
}

static void check_average(const struct power_fft *fft, unsigned average)
{
    const size_t n = fft->n;
    float *out = again + GUARD + 1;
    double error;
    want(n, average);
    run(fft, means, average, 0, 0);
    error = relative_error(means, power, n);
    CHECK(error <= 2 * error_bound(n), "%s, %zu points, %u transforms: error %.3g, %.2f of the bound",
          fft->kernels->name, n, average, error, error / 2 / error_bound(n));
    for (size_t first = 0; first < n; first += n / 2) {
        memset(again, 0x5a, sizeof again);
        run(fft, out, average, first, 1);
        CHECK(!memcmp(out + first, means, (n - first) * sizeof *out) &&
                  !memcmp(out, means + (n - first) % n, first * sizeof *out),
              "%s, %zu points, %u transforms: other bits at another address or place", fft->kernels->name, n, average);
        for (size_t b = 0; b < GUARD * sizeof *out; b++)
            CHECK(((const unsigned char *)again)[b] == 0x5a && ((const unsigned char *)(out + n))[b] == 0x5a,
                  "%s, %zu points: written beside the means", fft->kernels->name, n);
    }
    executed++;
}

static void check(const struct power_kernels *kernels, size_t n, bool windowed)
{
    static const unsigned averages[] = {2, 4, MOST_AVERAGE};
    struct power_fft *fft;
    uint64_t seed = n;
    for (size_t j = 0; j < n; j++)
        window[j] = windowed ? (float)test_uniform(&seed) : 1;
    CHECK_OK(penstock__power_fft_new(&fft, n, windowed ? window : NULL, kernels));
    if (!fft)
        return;
    for (size_t i = 0; i < 3; i++)
        check_average(fft, averages[i]);
    penstock__power_fft_free(fft);
}

int main(void)
{
    const struct power_kernels *kernels;
    size_t i, lengths = 0;
    for (i = 0; (kernels = penstock__power_build(i)); i++) {
        lengths = 0;
        for (size_t n = POWER_SHORTEST; n <= (getenv("PENSTOCK_TEST_FULL") ? MOST : MOST / 8); n *= 2, lengths++)
            for (int windowed = 0; windowed < 2; windowed++)
                check(kernels, n, windowed);
    }
    CHECK(!penstock__power_kernels(POWER_SHORTEST / 2) && !penstock__power_kernels(2 * POWER_LONGEST) &&
              !penstock__power_kernels(3 << 15) && (!i || penstock__power_kernels(1 << 16)),
          "other lengths fit");
    CHECK_EQ(executed, 6 * lengths * i);
    return i ? test_finish() : test_skip("this processor has no kernels");
}
