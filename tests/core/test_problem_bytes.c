/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Problems on their way to another process: what arrives is what was sent, or nothing. */
#include "core/base/memory.h"
#include "core/plan/problem_bytes.h"
#include "test.h"

#include <string.h>

static const float window[5] = {1, 2, 3, 4, 5};
static const uint32_t bins[4] = {3, 1, 4, 15}, pilot_bins[2] = {9, 2};
static const int32_t rates[2][4] = {{4, 1, 0, 1}, {8, 2, 1, 0}};
static const penstock_cf32 pilots[6] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {2, 2}, {-2, 2}};

static const struct penstock_problem problems[] = {
    {.kind = PENSTOCK_PROBLEM_FFT, .in_bytes = 40, .out_bytes = 20, .batch = 7, .fft = {.n = 5, .window = window}},
    {.kind = PENSTOCK_PROBLEM_FFT, .batch = 1, .fft = {.n = 1 << 20, .average = 3}},
    {.kind = PENSTOCK_PROBLEM_OFDM,
     .ofdm = {.n = 16,
              .carrier_count = 4,
              .bins = bins,
              .pilot_count = 2,
              .pilot_rows = 3,
              .pilot_bins = pilot_bins,
              .pilot_values = pilots}},
    {.kind = PENSTOCK_PROBLEM_OFDM, .ofdm = {.n = 16, .carrier_count = 4, .bins = bins}},
    {.kind = PENSTOCK_PROBLEM_RESAMPLE, .in_bytes = 8, .out_bytes = 8, .batch = 9, .resample = {.block = 256}},
    {.kind = PENSTOCK_PROBLEM_CODED, .coded = {.carriers = 3, .rate_count = 2, .row = 4, .rates = rates[0]}},
    {.kind = PENSTOCK_PROBLEM_FILTER,
     .filter = {.n = 64, .block = 32, .partitions = 2, .interpolation = 3, .decimation = 4}},
};

static bool same(const void *a, const void *b, size_t bytes)
{
    return a && b ? a != b && !memcmp(a, b, bytes) : a == b;
}

/* Arrays are others of the same content; what is beside them is the same. */
static void check_same(const struct penstock_problem *sent, struct penstock_problem came)
{
    if (sent->kind == PENSTOCK_PROBLEM_FFT) {
        CHECK(same(sent->fft.window, came.fft.window, sizeof window), "another window");
        came.fft.window = sent->fft.window;
    }
    if (sent->kind == PENSTOCK_PROBLEM_OFDM) {
        CHECK(same(sent->ofdm.bins, came.ofdm.bins, sizeof bins), "other carriers");
        CHECK(same(sent->ofdm.pilot_bins, came.ofdm.pilot_bins, sizeof pilot_bins), "other pilots");
        CHECK(same(sent->ofdm.pilot_values, came.ofdm.pilot_values, sizeof pilots), "other values of pilots");
        came.ofdm.bins = sent->ofdm.bins;
        came.ofdm.pilot_bins = sent->ofdm.pilot_bins;
        came.ofdm.pilot_values = sent->ofdm.pilot_values;
    }
    if (sent->kind == PENSTOCK_PROBLEM_CODED) {
        CHECK(same(sent->coded.rates, came.coded.rates, sizeof rates), "other rates");
        came.coded.rates = sent->coded.rates;
    }
    CHECK(!memcmp(sent, &came, sizeof came), "another problem");
}

int main(void)
{
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        struct penstock_problem came;
        size_t bytes;
        char *packed = penstock__problem_pack(&bytes, &problems[i]);
        CHECK(packed && penstock__problem_unpack(&came, packed, bytes), "problem %zu does not arrive", i);
        if (!packed)
            continue;
        check_same(&problems[i], came);
        for (size_t cut = 0; cut < bytes; cut += 4)
            CHECK(!penstock__problem_unpack(&came, packed, cut), "%zu bytes are enough", cut);
        packed[0] ^= 1; /* of the version */
        CHECK(!penstock__problem_unpack(&came, packed, bytes), "that of another version is taken");
        penstock__free(packed);
    }
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
