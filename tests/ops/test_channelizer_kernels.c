/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The filter bank's sums in each build that this processor runs: right against double precision, the same bits however
 * many frames are made together, and not a value beyond the width. And frames taken apart into streams: each value
 * where it belongs, its bits as they were, and none beside them. */
#include "ops/channelizer/channelizer_kernels.h"
#include "test.h"
#include "vector/instructions.h"

#define MOST_WIDTH  60
#define MOST_DEPTH  40
#define MOST_FRAMES 21
#define STRIDE      (MOST_WIDTH + FOLD_WIDTH)
#define ROWS        (MOST_DEPTH + 3 * MOST_FRAMES)
#define PITCH       72 /* whole lines of the cache */

static penstock_cf32 in[ROWS * STRIDE], out[MOST_FRAMES][STRIDE], alone[STRIDE];
static float weights[2 * MOST_WIDTH * MOST_DEPTH];
static double plain[MOST_DEPTH][MOST_WIDTH];

static void fill(size_t width, size_t depth, uint64_t *seed)
{
    for (size_t i = 0; i < ROWS * STRIDE; i++)
        in[i] = (penstock_cf32){(float)test_uniform(seed), (float)test_uniform(seed)};
    for (size_t t = 0; t < depth; t++)
        for (size_t i = 0; i < width; i++) {
            size_t column = i / FOLD_WIDTH * FOLD_WIDTH;
            size_t wide = width - column < FOLD_WIDTH ? width - column : FOLD_WIDTH;
            float value = (float)test_uniform(seed), *pair = weights + 2 * (column * depth + t * wide + i - column);
            plain[t][i] = (double)value;
            pair[0] = pair[1] = value;
        }
}

static void check(const struct channelizer_kernels *kernels, size_t width, size_t depth, size_t frames, ptrdiff_t step,
                  uint64_t seed)
{
    const struct fold_weights w = {.depth = depth, .width = width, .values = weights};
    const penstock_cf32 *rows[MOST_FRAMES], untouched = {123, 456};
    penstock_cf32 *to[MOST_FRAMES], *single = alone;
    fill(width, depth, &seed);
    for (size_t f = 0; f < frames; f++) {
        rows[f] = in + (step < 0 ? depth * STRIDE : 0) + f * STRIDE + test_random(&seed) % 3;
        to[f] = out[f];
        for (size_t i = 0; i < STRIDE; i++)
            out[f][i] = untouched;
    }
    kernels->fold(to, rows, frames, step, &w);
    for (size_t f = 0; f < frames; f++) {
        double difference = 0;
        for (size_t i = 0; i < width; i++) {
            double re = 0, im = 0;
            for (size_t t = 0; t < depth; t++) {
                const penstock_cf32 *x = rows[f] + (ptrdiff_t)t * step + i;
                re += plain[t][i] * (double)x->re;
                im += plain[t][i] * (double)x->im;
            }
            difference = fmax(difference, fmax(fabs(re - (double)out[f][i].re), fabs(im - (double)out[f][i].im)));
        }
        kernels->fold(&single, &rows[f], 1, step, &w);
        CHECK(difference < 1e-6 * sqrt((double)depth) && !memcmp(alone, out[f], width * sizeof *alone) &&
                  !memcmp(&out[f][width], &untouched, sizeof untouched),
              "%s: width %zu, depth %zu, frame %zu of %zu: off by %.3g", kernels->name, width, depth, f, frames,
              difference);
    }
}

/* Values by their place, so that no two are alike. Streams that begin alike in their lines of the cache, or each
 * otherwise. */
static void check_apart(const struct channelizer_kernels *kernels, size_t channels, size_t count, size_t at, bool alike,
                        bool past)
{
    static _Alignas(64) penstock_cf32 streams[MOST_WIDTH][PITCH], expected[MOST_WIDTH][PITCH];
    void *to[MOST_WIDTH];
    for (size_t i = 0; i < count * channels; i++)
        in[i] = (penstock_cf32){(float)i, i % 5 ? -(float)i : NAN};
    memset(streams, 1, sizeof streams);
    memset(expected, 1, sizeof expected);
    for (size_t c = 0; c < channels; c++) {
        const size_t first = alike ? 0 : c % 3;
        to[c] = streams[c] + first;
        for (size_t f = 0; f < count; f++)
            expected[c][first + at + f] = in[f * channels + c];
    }
    kernels->take_apart(to, at, in, channels, count, past);
    CHECK(!memcmp(streams, expected, sizeof streams), "%s: %zu frames of %zu channels to place %zu%s%s", kernels->name,
          count, channels, at, alike ? ", alike" : "", past ? ", past the caches" : "");
}

int main(void)
{
    const struct channelizer_kernels *builds[] = {&penstock__channelizer_kernels_plain,
                                                  AVX2_BUILD(&penstock__channelizer_kernels_avx2),
                                                  AVX512_BUILD(&penstock__channelizer_kernels_avx512)};
    uint64_t seed = 9;
    for (size_t b = 0; b < 3; b++) {
        if (!builds[b])
            continue;
        printf("%s\n", builds[b]->name);
        for (int i = 0; i < 200; i++)
            check(builds[b], FOLD_WIDTH / 2 * (1 + test_random(&seed) % (2 * MOST_WIDTH / FOLD_WIDTH)),
                  1 + test_random(&seed) % MOST_DEPTH, 1 + test_random(&seed) % MOST_FRAMES, i % 2 ? STRIDE : -STRIDE,
                  seed);
        for (int i = 0; i < 400; i++)
            check_apart(builds[b], 1 + test_random(&seed) % MOST_WIDTH, test_random(&seed) % (STRIDE - 9),
                        test_random(&seed) % 9, i & 1, i & 2);
    }
    return test_finish();
}
