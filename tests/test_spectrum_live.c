/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What changes and is asked of a spectrum while it runs: window, latency, counters. */
#include "test.h"

#include <math.h>
#include <penstock/penstock.h>

enum { N = 16, HOP = 8, AVERAGE = 3, SAMPLES = 4000, VECTORS = (SAMPLES - N) / HOP / AVERAGE };

static int executed, ahead;

enum way { PUSH, RUN, PREPARE };

/* Of ones the power in bin 0 is (w n)^2 where the window is w: a vector has one window for all its transforms, windows
 * come in the order in which they were set, and each vector that was not complete and not given when one was set has
 * it.
 */
static void check_windows(penstock_context *context, const char *device, enum way way)
{
    static penstock_cf32 in[SAMPLES];
    static float window[N], out[(VECTORS + 1) * N];
    penstock_spectrum *spectrum = NULL;
    size_t at = 0, count = 0, taken, given;
    unsigned from[VECTORS + 2]; /* the window that was set last when the vector was not complete */
    uint64_t seed = way;
    size_t kept = 0, wanted; /* samples that were not taken, and come again */
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = N, .hop = HOP, .average = AVERAGE, .output = PENSTOCK_OUTPUT_POWER);
    for (size_t i = 0; i < SAMPLES; i++)
        in[i].re = 1;
    CHECK_OK(penstock_spectrum_new(&spectrum, context, &desc, device));
    for (unsigned factor = 1; at < SAMPLES; factor++) {
        size_t piece = test_random(&seed) % (way == PREPARE ? 20 : 300), room = test_random(&seed) % 20;
        piece = piece < SAMPLES - at ? piece : SAMPLES - at;
        for (size_t i = 0; i < N; i++)
            window[i] = (float)factor;
        CHECK_OK(penstock_spectrum_set_window(spectrum, "hann", window));
        for (size_t v = count; v <= VECTORS; v++)
            if ((v * AVERAGE + AVERAGE - 1) * HOP + N > at)
                from[v] = factor;
        if (way == PREPARE) {
            piece = piece + kept < SAMPLES - at ? piece + kept : SAMPLES - at;
            CHECK_OK(penstock_spectrum_prepare(spectrum, in, piece, &wanted));
            kept = wanted && piece < (AVERAGE - 1) * HOP + N && at + piece < SAMPLES ? piece : 0;
            ahead += kept > 0;
            if (kept)
                continue;
        }
        if (way != PUSH) {
            CHECK_OK(penstock_spectrum_run(spectrum, in, piece, &taken, out + count * N, room, &given));
        } else {
            CHECK_OK(penstock_spectrum_push(spectrum, in, piece, &taken));
            CHECK_OK(penstock_spectrum_pull(spectrum, out + count * N, room, false, &given));
        }
        at += taken;
        count += given;
    }
    CHECK_OK(penstock_spectrum_finish(spectrum));
    CHECK_OK(penstock_spectrum_pull(spectrum, out + count * N, VECTORS + 1 - count, false, &given));
    CHECK_EQ(count + given, VECTORS);
    for (size_t v = 0; v < VECTORS; v++) {
        double want = pow(from[v] * (double)N, 2);
        CHECK(fabs((double)out[v * N] - want) <= 1e-4 * want, "%s, vector %zu: %g, not %g", device, v,
              sqrt((double)out[v * N]) / N, sqrt(want) / N);
    }
    penstock_spectrum_free(spectrum);
    executed++;
}

static void check_due(penstock_context *context)
{
    static const penstock_cf32 in[3 * N];
    float out[N];
    penstock_spectrum *spectrum = NULL;
    size_t given;
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = N, .output = PENSTOCK_OUTPUT_POWER, .max_latency_s = 1000);
    CHECK_OK(penstock_spectrum_new(&spectrum, context, &desc, "cpu"));
    CHECK_OK(penstock_spectrum_push(spectrum, in, N - 1, NULL));
    CHECK(isinf(penstock_spectrum_due_s(spectrum)), "due with no vector in");
    CHECK_OK(penstock_spectrum_push(spectrum, in, 1, NULL));
    double due = penstock_spectrum_due_s(spectrum);
    CHECK(due > 0 && due <= 1000, "due in %g s", due);
    CHECK_OK(penstock_spectrum_set_max_latency(spectrum, 1e-9));
    CHECK(penstock_spectrum_due_s(spectrum) <= 0, "a shorter latency does not hold");
    CHECK_OK(penstock_spectrum_pull(spectrum, out, 1, false, &given));
    CHECK_EQ(given, 1);
    CHECK(isinf(penstock_spectrum_due_s(spectrum)) && isinf(penstock_spectrum_due_s(NULL)), "due with nothing left");
    penstock_spectrum_free(spectrum);
    executed++;
}

static void check_stats(penstock_context *context)
{
    static const penstock_cf32 in[SAMPLES];
    static float out[VECTORS * N];
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    penstock_spectrum *spectrum = NULL;
    size_t taken, given;
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = N, .hop = HOP, .average = AVERAGE, .output = PENSTOCK_OUTPUT_DECIBEL);
    CHECK_OK(penstock_spectrum_new(&spectrum, context, &desc, "cpu"));
    CHECK_EQ(penstock_spectrum_vector_of(spectrum, HOP * AVERAGE - 1), 0);
    CHECK_EQ(penstock_spectrum_vector_of(spectrum, HOP * AVERAGE * 7), 7);
    CHECK_OK(penstock_spectrum_run(spectrum, in, 1000, &taken, out, VECTORS, &given));
    CHECK(taken == given * HOP * AVERAGE && given == (1000 - N) / HOP / AVERAGE, "%zu taken, %zu given", taken, given);
    size_t vectors = given, first = taken;
    CHECK_OK(penstock_spectrum_run(spectrum, in + first, 1000 - first, &taken, out, VECTORS, &given));
    CHECK(first + taken == 1000 && !given, "of the rest %zu taken, %zu given", taken, given);
    CHECK_OK(penstock_spectrum_get_stats(spectrum, &stats));
    CHECK(stats.in == 1000 && stats.out == vectors && stats.queue < HOP * AVERAGE + N && stats.batch > 1,
          "%g in, %g out, %g wait, batch %g", (double)stats.in, (double)stats.out, (double)stats.queue, stats.batch);
    CHECK(stats.kernel_s > 0 && stats.transfer_s == 0 && stats.latency_p99_s >= stats.latency_p50_s && !stats.fallbacks,
          "kernel %g s", stats.kernel_s);
    CHECK_EQ(penstock_spectrum_set_window(spectrum, "round", NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_set_window(NULL, NULL, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_set_max_latency(spectrum, -1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_get_stats(NULL, &stats), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_run(NULL, NULL, 0, NULL, NULL, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_prepare(NULL, in, 1, &taken), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_prepare(spectrum, NULL, 1, &taken), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_prepare(spectrum, in, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_spectrum_free(spectrum);
    executed++;
}

int main(void)
{
    static const char *const devices[] = {"cpu", "trace"};
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < 2; i++)
        for (int way = PUSH; way <= PREPARE; way++)
            check_windows(context, devices[i], (enum way)way);
    check_due(context);
    check_stats(context);
    CHECK_EQ(executed, 8);
    CHECK(ahead > 10, "%d times ahead", ahead);
    penstock_context_free(context);
    return test_finish();
}
