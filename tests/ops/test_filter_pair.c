/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Circular convolution by each instruction set that this processor has, at every length: against a double-precision
 * transform, in whole and in parts, from samples and to values at any address; and an error that the self-check finds.
 */
#include "ops/filter/filter_pair.h"
#include "test.h"

#include <math.h>
#include <string.h>

#define MOST  ((size_t)1 << 17) /* longer ones check themselves */
#define GUARD 16

static penstock_cf32 samples[MOST + 1], spectrum[MOST], whole[MOST], values[MOST + 1 + 2 * GUARD];
static double right[2 * MOST];
static _Alignas(64) float data[2 * MOST], work[2 * MOST], ordered[2 * MOST];

static void make_right(size_t n, uint64_t *seed)
{
    for (size_t j = 0; j < n; j++) {
        samples[1 + j] = (penstock_cf32){(float)test_uniform(seed), (float)test_uniform(seed)};
        spectrum[j] = (penstock_cf32){(float)test_uniform(seed), (float)test_uniform(seed)};
        right[2 * j] = (double)samples[1 + j].re;
        right[2 * j + 1] = (double)samples[1 + j].im;
    }
    CHECK_OK(penstock__dft(right, n, PENSTOCK_FORWARD));
    for (size_t k = 0; k < n; k++) {
        double re = right[2 * k], im = right[2 * k + 1], c = (double)spectrum[k].re, d = (double)spectrum[k].im;
        right[2 * k] = re * c - im * d;
        right[2 * k + 1] = re * d + im * c;
    }
    CHECK_OK(penstock__dft(right, n, PENSTOCK_REVERSE));
}

static double error_of(const penstock_cf32 *got, size_t n)
{
    double error = 0, norm = 0;
    for (size_t j = 0; j < n; j++) {
        error += pow((double)got[j].re - right[2 * j], 2) + pow((double)got[j].im - right[2 * j + 1], 2);
        norm += pow(right[2 * j], 2) + pow(right[2 * j + 1], 2);
    }
    return sqrt(error / norm);
}

/* Any part is that part of the whole, and nothing is written beside it. */
static void check_parts(const struct filter_pair *pair, uint64_t *seed)
{
    for (int i = 0; i < 40; i++) {
        size_t first = (size_t)(test_random(seed) % pair->fft.n),
               count = (size_t)(test_random(seed) % (pair->fft.n - first)) + 1;
        penstock_cf32 *out = values + GUARD + i % 2;
        memset(values, 0x5a, sizeof values);
        pair->kernels->reverse(pair, work, data, ordered, out, first, count);
        CHECK(!memcmp(out, whole + first, count * sizeof *out), "values %zu .. of %zu differ", first, pair->fft.n);
        const unsigned char *before = (const unsigned char *)(out - GUARD + 1), *after = (unsigned char *)(out + count);
        for (size_t b = 0; b < (GUARD - 1) * sizeof *out; b++)
            CHECK(before[b] == 0x5a && after[b] == 0x5a, "written beside %zu values from %zu", count, first);
    }
}

static void check_length(const struct pair_kernels *kernels, size_t n, uint64_t *seed)
{
    struct filter_pair *pair = NULL;
    CHECK_OK(penstock__filter_pair_new(&pair, n, kernels));
    CHECK_OK(penstock__filter_pair_check(pair));
    make_right(n, seed);
    penstock__filter_pair_order(pair, ordered, spectrum);
    pair->kernels->forward(pair, data, samples + 1);
    pair->kernels->reverse(pair, work, data, ordered, whole, 0, n);
    double error = error_of(whole, n), bound = 2e-7 * sqrt(log2((double)n));
    CHECK(error <= bound, "%s, %zu points: error %.3g, bound %.3g", kernels->name, n, error, bound);
    check_parts(pair, seed);
    pair->fft.middle[n / 3] += 0.01f;
    CHECK_EQ(penstock__filter_pair_check(pair), PENSTOCK_ERR_CHECK);
    penstock__filter_pair_free(pair);
}

int main(void)
{
    const struct pair_kernels *kernels;
    uint64_t seed = 1;
    size_t i;
    for (i = 0; (kernels = penstock__pair_kernels(i)); i++) {
        printf("%s\n", kernels->name);
        for (size_t n = VECTOR_FFT_SHORTEST; n <= MOST; n *= 2)
            check_length(kernels, n, &seed);
    }
    CHECK(!penstock__filter_pair_fits(VECTOR_FFT_SHORTEST / 2) && !penstock__filter_pair_fits(2 * PAIR_LONGEST) &&
              !penstock__filter_pair_fits(768) && penstock__filter_pair_fits(1024),
          "other lengths fit");
    return i ? test_finish() : test_skip("this processor has no kernels");
}
