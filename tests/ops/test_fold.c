/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Weighted sums of rows in each build that this processor runs: right against double precision, the same bits however
 * many frames are made together, and not a value beyond the width. */
#include "test.h"
#include "vector/fold.h"
#include "vector/instructions.h"

#define MOST_WIDTH  60
#define MOST_DEPTH  40
#define MOST_FRAMES 21
#define STRIDE      (MOST_WIDTH + FOLD_WIDTH)
#define ROWS        (MOST_DEPTH + 3 * MOST_FRAMES)

static penstock_cf32 in[ROWS * STRIDE], out[MOST_FRAMES][STRIDE], alone[STRIDE];
static float weights[2 * MOST_WIDTH * MOST_DEPTH];
static double plain[MOST_DEPTH][MOST_WIDTH];

static void fill(size_t width, size_t depth, uint64_t *seed)
{
    for (size_t i = 0; i < ROWS * STRIDE; i++)
        in[i] = (penstock_cf32){(float)test_uniform(seed), (float)test_uniform(seed)};
    for (size_t t = 0; t < depth; t++)
        for (size_t i = 0; i < width; i++) {
            const float value = (float)test_uniform(seed);
            plain[t][i] = (double)value;
            penstock__fold_weight(&(struct fold_weights){depth, width, weights}, t, i, value);
        }
}

static void check(const struct fold_kernels *kernels, size_t width, size_t depth, size_t frames, ptrdiff_t step,
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

int main(void)
{
    const struct fold_kernels *builds[] = {&penstock__fold_plain, AVX2_BUILD(&penstock__fold_avx2),
                                           AVX512_BUILD(&penstock__fold_avx512)};
    uint64_t seed = 9;
    for (size_t b = 0; b < 3; b++) {
        if (!builds[b])
            continue;
        printf("%s\n", builds[b]->name);
        for (int i = 0; i < 200; i++)
            check(builds[b], FOLD_WIDTH / 2 * (1 + test_random(&seed) % (2 * MOST_WIDTH / FOLD_WIDTH)),
                  1 + test_random(&seed) % MOST_DEPTH, 1 + test_random(&seed) % MOST_FRAMES, i % 2 ? STRIDE : -STRIDE,
                  seed);
    }
    return test_finish();
}
