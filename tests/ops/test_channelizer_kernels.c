/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of the filter bank taken apart into streams, in each build that this processor runs: each value where it
 * belongs, its bits as they were, and none beside them. */
#include "ops/channelizer/channelizer_kernels.h"
#include "test.h"
#include "vector/instructions.h"

#define MOST_WIDTH  60
#define MOST_FRAMES 68
#define PITCH       72 /* whole lines of the cache */

static penstock_cf32 in[MOST_FRAMES * MOST_WIDTH];

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
        for (int i = 0; i < 400; i++)
            check_apart(builds[b], 1 + test_random(&seed) % MOST_WIDTH, test_random(&seed) % (MOST_FRAMES - 9),
                        test_random(&seed) % 9, i & 1, i & 2);
    }
    return test_finish();
}
