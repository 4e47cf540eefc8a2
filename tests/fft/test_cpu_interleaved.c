/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Short transforms side by side, by each instruction set that this processor has, at every length: against a
 * double-precision transform, in both directions and with a window; in any number, from and to any address and
 * with any step, with the same bits; and nothing written beside the bins.
 */
#include "backends/cpu/interleaved.h"
#include "fft_error.h"
#include "test.h"

#include <string.h>

#define COUNT 11 /* transforms; more than are done together, and no multiple of that */
#define MOST  INTERLEAVED_LONGEST
#define GAP   3 /* values from the end of a transform to the next one's start */
#define PITCH (MOST + GAP)

static penstock_cf32 samples[COUNT * MOST], bins[COUNT * MOST], in[COUNT * PITCH + 1], out[COUNT * PITCH + GAP + 1];
static _Alignas(64) penstock_cf32 spare[MOST];
static float window[MOST];
static size_t executed;

static void make_samples(size_t n, bool windowed, uint64_t seed)
{
    for (size_t j = 0; j < COUNT * n; j++)
        samples[j] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t j = 0; j < n; j++)
        window[j] = windowed ? (float)test_uniform(&seed) : 1;
}

static void check_error(const struct interleaved_fft *interleaved, size_t n, penstock_direction direction)
{
    double right[2 * MOST];
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < n; j++) {
            right[2 * j] = (double)samples[i * n + j].re * (double)window[j];
            right[2 * j + 1] = (double)samples[i * n + j].im * (double)window[j];
        }
        CHECK_OK(penstock__dft(right, n, direction));
        double error = relative_error((const float *)(bins + i * n), right, 2 * n);
        CHECK(error <= error_bound(n), "%s, %zu points, transform %zu, direction %d: error %.3g, %.2f of the bound",
              interleaved->kernels->name, n, i, (int)direction, error, error / error_bound(n));
    }
}

/* Transforms `first` .. `first` + `count` - 1, apart from each other, from odd floats on: bit for bit those of all of
 * them, and all else as it was. */
static void check_some(const struct interleaved_fft *interleaved, interleaved_run *run, size_t n, size_t first,
                       size_t count)
{
    const size_t step = (n + GAP) * sizeof *in;
    char *from = (char *)in + sizeof(float);
    penstock_cf32 *to = out + GAP, none;
    memset(&none, 0x5a, sizeof none);
    memset(in, 0xff, sizeof in); /* not numbers */
    memset(out, 0x5a, sizeof out);
    memset(spare, 0xff, sizeof spare);
    for (size_t i = 0; i < count; i++)
        memcpy(from + i * step, samples + (first + i) * n, n * sizeof *in);
    run(interleaved, from, step, to, step, count, spare);
    for (size_t i = 0; i < count; i++, to += n + GAP) {
        CHECK(!memcmp(to, bins + (first + i) * n, n * sizeof *to), "%s, %zu points: other bits of %zu from %zu on",
              interleaved->kernels->name, n, count, first);
        for (size_t at = 1; at <= GAP; at++)
            CHECK(!memcmp(to - at, &none, sizeof none), "%s, %zu points: written before the bins",
                  interleaved->kernels->name, n);
    }
    for (const penstock_cf32 *end = out + sizeof out / sizeof *out; to - GAP < end; to++)
        CHECK(!memcmp(to - GAP, &none, sizeof none), "%s, %zu points: written behind the bins",
              interleaved->kernels->name, n);
}

static void check(const struct interleaved_kernels *kernels, size_t n, penstock_direction direction, bool windowed)
{
    interleaved_run *run = direction == PENSTOCK_FORWARD ? kernels->forward : kernels->reverse;
    struct interleaved_fft *interleaved;
    make_samples(n, windowed, n + (uint64_t)direction);
    CHECK_OK(penstock__interleaved_fft_new(&interleaved, n, windowed ? window : NULL, kernels));
    if (!interleaved)
        return;
    run(interleaved, samples, n * sizeof *samples, bins, n * sizeof *bins, COUNT, spare);
    check_error(interleaved, n, direction);
    for (size_t count = 1; count <= COUNT; count++)
        for (size_t first = 0; first + count <= COUNT; first++)
            check_some(interleaved, run, n, first, count);
    penstock__interleaved_fft_free(interleaved);
    executed++;
}

int main(void)
{
    const struct interleaved_kernels *kernels;
    size_t i;
    for (i = 0; (kernels = penstock__interleaved_build(i)); i++)
        for (size_t n = INTERLEAVED_SHORTEST; n <= INTERLEAVED_LONGEST; n *= 2)
            for (int way = 0; way < 3; way++)
                check(kernels, n, way ? PENSTOCK_FORWARD : PENSTOCK_REVERSE, way == 2);
    CHECK(!penstock__interleaved_kernels(INTERLEAVED_SHORTEST / 2) &&
              !penstock__interleaved_kernels(2 * INTERLEAVED_LONGEST) && !penstock__interleaved_kernels(48) &&
              (!i || penstock__interleaved_kernels(64)),
          "other lengths fit");
    CHECK_EQ(executed, 12 * i);
    return i ? test_finish() : test_skip("this processor has no kernels");
}
