/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Transforms by each instruction set that this processor has, at every length: against a double-precision transform, in
 * both directions and with a window, from samples and to bins at any address with the same bits,
 * whatever was in the memory to work in, and nothing written beside the bins.
 */
#include "backends/cpu/natural_order.h"
#include "fft_error.h"
#include "test.h"

#include <string.h>

#define MOST  ((size_t)1 << 18)
#define GUARD 16

static penstock_cf32 samples[MOST + 1], bins[MOST], again[MOST + 2 * GUARD + 1];
static float window[MOST];
static double right[2 * MOST];
static _Alignas(64) penstock_cf32 work[MOST];
static size_t executed;

typedef void transform(const struct natural_order_fft *fft, penstock_cf32 *out, const penstock_cf32 *in,
                       const penstock_cf32 *next, void *work);

static void check_addresses(const struct natural_order_fft *fft, transform *run, size_t n)
{
    penstock_cf32 *out = again + GUARD + 1;
    const unsigned char *before = (const unsigned char *)again, *after = (const unsigned char *)(out + n);
    memset(again, 0x5a, sizeof again);
    memset(work, 0xff, sizeof work); /* not a number */
    memmove(samples + 1, samples, n * sizeof *samples);
    run(fft, out, samples + 1, NULL, work);
    memmove(samples, samples + 1, n * sizeof *samples);
    CHECK(!memcmp(out, bins, n * sizeof *bins), "%s, %zu points: other bits at another address", fft->kernels->name, n);
    for (size_t b = 0; b < (GUARD - 1) * sizeof *out; b++)
        CHECK(before[b] == 0x5a && after[b] == 0x5a, "%s, %zu points: written beside the bins", fft->kernels->name, n);
}

static void check(const struct natural_order_kernels *kernels, size_t n, penstock_direction direction, bool windowed)
{
    transform *run = direction == PENSTOCK_FORWARD ? kernels->forward : kernels->reverse;
    struct natural_order_fft *fft;
    uint64_t seed = n + (uint64_t)direction;
    for (size_t j = 0; j < n; j++)
        window[j] = windowed ? (float)test_uniform(&seed) : 1;
    CHECK_OK(penstock__natural_order_fft_new(&fft, n, windowed ? window : NULL, kernels));
    if (!fft)
        return;
    for (size_t j = 0; j < n; j++) {
        samples[j] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        right[2 * j] = (double)samples[j].re * (double)window[j];
        right[2 * j + 1] = (double)samples[j].im * (double)window[j];
    }
    CHECK_OK(penstock__dft(right, n, direction));
    run(fft, bins, samples, samples, work);
    double error = relative_error((const float *)bins, right, 2 * n);
    CHECK(error <= error_bound(n), "%s, %zu points, direction %d: error %.3g, %.2f of the bound", kernels->name, n,
          (int)direction, error, error / error_bound(n));
    check_addresses(fft, run, n);
    penstock__natural_order_fft_free(fft);
    executed++;
}

static void check_kernels(const struct natural_order_kernels *kernels)
{
    for (size_t n = VECTOR_FFT_SHORTEST; n <= MOST; n *= 2)
        for (int way = 0; way < 3; way++)
            check(kernels, n, way ? PENSTOCK_FORWARD : PENSTOCK_REVERSE, way == 2);
}

int main(void)
{
    const struct natural_order_kernels *kernels;
    size_t i;
    for (i = 0; (kernels = penstock__natural_order_build(i)); i++)
        check_kernels(kernels);
    CHECK(!penstock__natural_order_kernels(VECTOR_FFT_SHORTEST / 2) &&
              !penstock__natural_order_kernels(2 * VECTOR_FFT_LONGEST) && !penstock__natural_order_kernels(3 << 15) &&
              (!i || penstock__natural_order_kernels(1 << 16)),
          "other lengths fit");
    CHECK_EQ(executed, 33 * i);
    return i ? test_finish() : test_skip("this processor has no kernels");
}
