/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A receiver's conversion in each build that this processor runs: every sample and both counts as they are defined, for
 * any count and place, and not a sample beyond. */
#include "rx/condition.h"
#include "test.h"
#include "vector/instructions.h"

enum { MOST = 4200 };

static char in[8 * MOST + 8];
static penstock_cf32 got[MOST];

/* Random bytes; as floats most are finite, and some are made not so. */
static void fill(penstock_format format, char *to, uint64_t seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1.001e15F, -1.001e15F, 1e15F, -1e15F, -0.0F};
    for (size_t i = 0; i < 8 * MOST; i++)
        to[i] = (char)test_random(&seed);
    for (size_t i = 0; i < 2 * MOST && format == PENSTOCK_CF32; i++) {
        const uint64_t random = test_random(&seed);
        const float value = random % 5 ? (float)test_uniform(&seed) : odd[random / 5 % 8];
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
}

/* Part `i`: its value, and whether it counts. */
static float define(penstock_format format, const char *from, size_t i, bool *counts)
{
    float value;
    int16_t wide;
    if (format == PENSTOCK_CF32) {
        memcpy(&value, from + i * sizeof value, sizeof value);
        *counts = !(fabsf(value) <= PENSTOCK__CONDITION_LARGEST);
        return value;
    }
    if (format == PENSTOCK_CS16) {
        memcpy(&wide, from + i * sizeof wide, sizeof wide);
        *counts = wide == INT16_MAX || wide == INT16_MIN;
        return (float)wide / 32768;
    }
    const int narrow = format == PENSTOCK_CS8 ? (signed char)from[i] : (unsigned char)from[i];
    *counts = format == PENSTOCK_CS8 ? narrow == 127 || narrow == -128 : narrow == 0 || narrow == 255;
    return format == PENSTOCK_CS8 ? (float)narrow / 128 : ((float)narrow - 127.5F) / 128;
}

static void check(penstock__conditioner *convert, penstock_format format, size_t offset, size_t count)
{
    const penstock_cf32 untouched = {123, 456};
    uint64_t clipped = 0, not_finite = 0, bad = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < MOST; i++)
        got[i] = untouched;
    convert(got, in + offset, format, count, &clipped, &not_finite);
    for (size_t i = 0; i < count; i++) {
        bool re_counts, im_counts;
        penstock_cf32 want = {define(format, in + offset, 2 * i, &re_counts),
                              define(format, in + offset, 2 * i + 1, &im_counts)};
        bad += re_counts || im_counts;
        if (format == PENSTOCK_CF32 && (re_counts || im_counts))
            want = (penstock_cf32){0, 0};
        wrong += memcmp(&got[i], &want, sizeof want) != 0;
    }
    for (size_t i = count; i < MOST; i++)
        wrong += memcmp(&got[i], &untouched, sizeof untouched) != 0;
    CHECK(!wrong, "format %d, %zu samples: %zu are wrong", (int)format, count, wrong);
    CHECK(clipped == (format == PENSTOCK_CF32 ? 0 : bad) && not_finite == (format == PENSTOCK_CF32 ? bad : 0),
          "format %d, %zu samples: %llu clipped, %llu not finite, not %llu", (int)format, count,
          (unsigned long long)clipped, (unsigned long long)not_finite, (unsigned long long)bad);
}

int main(void)
{
    static const penstock_format formats[] = {PENSTOCK_CF32, PENSTOCK_CS16, PENSTOCK_CS8, PENSTOCK_CU8};
    penstock__conditioner *const builds[] = {penstock__condition, penstock__condition_plain,
                                             AVX2_BUILD(&penstock__condition_avx2)};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (size_t offset = 0; offset <= 4; offset += 4) {
            fill(formats[f], in + offset, f);
            for (size_t b = 0; b < sizeof builds / sizeof *builds; b++)
                for (size_t count = 0; builds[b] && count <= MOST; count += count < 40 ? 1 : 4160)
                    check(builds[b], formats[f], offset, count);
        }
    return test_finish();
}
