/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What changes and is asked of a spectrum while it runs: window, latency, counters. */
#include "test.h"

#include <math.h>
#include <penstock/penstock.h>

enum {
    N = 16,
    HOP = 8,
    AVERAGE = 3,
    SAMPLES = 4000,
    VECTORS = (SAMPLES - N) / HOP / AVERAGE,
    STEP = AVERAGE * HOP,
    SPAN = STEP - HOP + N
};

static int executed, ahead;

enum way { PUSH, RUN, PREPARE };

/* Of ones the power in bin 0 is (w n)^2 where the window is w: a vector has one window for all its transforms, windows
 * come in the order in which they were set, and each vector that was not complete and not given when one was set has
 * it, unless it was begun ahead.
 */
static void check_windows(penstock_context *context, const char *device, enum way way)
{
    static penstock_cf32 in[SAMPLES];
    static float window[N], out[(VECTORS + 1) * N];
    penstock_stream *spectrum = NULL;
    size_t at = 0, count = 0, taken, given;
    unsigned from[VECTORS + 2]; /* the window that was set last when the vector was not complete */
    uint64_t seed = way;
    size_t kept = 0, wanted; /* samples that were not taken, and come again */
    bool begun = false;      /* the next vector was */
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = N, .hop = HOP, .average = AVERAGE, .output = PENSTOCK_OUTPUT_POWER);
    for (size_t i = 0; i < SAMPLES; i++)
        in[i].re = 1;
    CHECK_OK(penstock_spectrum_open(&spectrum, context, &desc, device));
    for (unsigned factor = 1; at < SAMPLES; factor++) {
        size_t chunk = test_random(&seed) % (way == PREPARE ? 20 : 300), room = test_random(&seed) % 20;
        chunk = chunk < SAMPLES - at ? chunk : SAMPLES - at;
        for (size_t i = 0; i < N; i++)
            window[i] = (float)factor;
        CHECK_OK(penstock_spectrum_set_window(spectrum, "hann", window));
        for (size_t v = count + begun; v <= VECTORS; v++)
            if ((v * AVERAGE + AVERAGE - 1) * HOP + N > at)
                from[v] = factor;
        if (way == PREPARE) {
            chunk = chunk + kept < SAMPLES - at ? chunk + kept : SAMPLES - at;
            CHECK_OK(penstock_spectrum_prepare(spectrum, in, chunk, &taken, &wanted));
            at += taken;
            chunk -= taken;
            ahead += taken > 0;
            begun = begun || taken;
            kept = chunk;
            if (wanted && at + chunk < (count * AVERAGE + AVERAGE - 1) * HOP + N && at + chunk < SAMPLES)
                continue;
            kept = 0;
        }
        if (way != PUSH) {
            CHECK_OK(penstock_stream_run(spectrum, in, chunk, &taken, out + count * N, room, &given));
        } else {
            CHECK_OK(penstock_stream_push(spectrum, in, chunk, &taken));
            CHECK_OK(penstock_stream_pull(spectrum, out + count * N, room, false, &given));
        }
        at += taken;
        count += given;
        begun = begun && !given;
    }
    CHECK_OK(penstock_stream_finish(spectrum));
    CHECK_OK(penstock_stream_pull(spectrum, out + count * N, VECTORS + 1 - count, false, &given));
    CHECK_EQ(count + given, VECTORS);
    for (size_t v = 0; v < VECTORS; v++) {
        double want = pow(from[v] * (double)N, 2);
        CHECK(fabs((double)out[v * N] - want) <= 1e-4 * want, "%s, vector %zu: %g, not %g", device, v,
              sqrt((double)out[v * N]) / N, sqrt(want) / N);
    }
    penstock_stream_free(spectrum);
    executed++;
}

/* A vector, of ones: the window's factor. */
static double run_factor(penstock_stream *spectrum, const penstock_cf32 *in, size_t count, size_t expected_taken)
{
    float out[N];
    size_t taken, given;
    CHECK_OK(penstock_stream_run(spectrum, in, count, &taken, out, 1, &given));
    CHECK(taken == expected_taken && given == 1, "%zu of %zu taken, %zu given", taken, count, given);
    return sqrt((double)out[0]) / N;
}

static void prepare(penstock_stream *spectrum, const penstock_cf32 *in, size_t count, size_t expected_taken,
                    size_t expected_wanted)
{
    size_t taken, wanted;
    CHECK_OK(penstock_spectrum_prepare(spectrum, in, count, &taken, &wanted));
    CHECK(taken == expected_taken && wanted == expected_wanted, "%zu of %zu taken, %zu wanted", taken, count, wanted);
}

/* A call that gives nothing. */
static void run_in_vain(penstock_stream *spectrum, const penstock_cf32 *in, size_t count, size_t capacity,
                        size_t expected_taken)
{
    float out[N];
    size_t taken, given;
    CHECK_OK(penstock_stream_run(spectrum, in, count, &taken, out, capacity, &given));
    CHECK(taken == expected_taken && !given, "%zu of %zu taken, %zu given", taken, count, given);
}

/* The window that was set last holds from the vector after the one that was begun; here that was `before`. */
static void check_begun_windows(penstock_stream *spectrum, const penstock_cf32 *in, double before)
{
    static const float twos[N] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    size_t taken;
    prepare(spectrum, in, N - 1, 0, N);
    prepare(spectrum, in, N, HOP, N);
    CHECK_EQ(penstock_stream_push(spectrum, in, N, &taken), PENSTOCK_ERR_STATE);
    CHECK_EQ(taken, 0);
    run_in_vain(spectrum, in, SAMPLES, 0, 0); /* there is no room for the vector */
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    CHECK_OK(penstock_stream_get_info(spectrum, &info));
    CHECK_EQ(info.waiting, 0);
    CHECK_OK(penstock_spectrum_set_window(spectrum, "hann", NULL));
    CHECK_OK(penstock_spectrum_set_window(spectrum, NULL, twos));
    CHECK(fabs(run_factor(spectrum, in, SPAN - HOP, STEP - HOP) - before) < 1e-4, "another window in a begun vector");
    CHECK(fabs(run_factor(spectrum, in, SPAN, STEP) - 2) < 1e-4, "the window does not hold from the next one on");
    prepare(spectrum, in, SAMPLES, STEP - HOP, N);
    prepare(spectrum, in, SAMPLES, 0, N); /* the last one is not done ahead */
    CHECK_OK(penstock_spectrum_set_window(spectrum, NULL, NULL));
    run_in_vain(spectrum, in, N - 1, 1, N - 1);
    prepare(spectrum, in, SAMPLES, 0, 0); /* samples are held */
    CHECK(fabs(run_factor(spectrum, in, 1, 0) - 2) < 1e-4, "another window in a begun vector that is held");
    run_in_vain(spectrum, in, 1, 1, 1); /* the same sample; it and those held belong to the next vector, too */
    CHECK(fabs(run_factor(spectrum, in, SPAN - HOP, SPAN - HOP) - 1) < 1e-4, "the window does not hold after that");
    CHECK_OK(penstock_spectrum_set_window(spectrum, NULL, twos));
}

/* A vector that was begun: what may come next, and what ends it. */
static void check_begun(penstock_context *context)
{
    static penstock_cf32 in[SAMPLES];
    float out[N];
    penstock_stream *spectrum = NULL;
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    size_t taken, given;
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = N, .hop = HOP, .average = AVERAGE, .output = PENSTOCK_OUTPUT_POWER);
    for (size_t i = 0; i < SAMPLES; i++)
        in[i].re = 1;
    CHECK_OK(penstock_spectrum_open(&spectrum, context, &desc, "cpu"));
    check_begun_windows(spectrum, in, 1);
    CHECK_OK(penstock_stream_reset(spectrum));
    check_begun_windows(spectrum, in, 2);
    CHECK_OK(penstock_stream_reset(spectrum));
    prepare(spectrum, in, N, HOP, N);
    CHECK_OK(penstock_spectrum_set_window(spectrum, NULL, NULL));
    CHECK_OK(penstock_stream_finish(spectrum)); /* what is begun is left out */
    CHECK_EQ(penstock_stream_run(spectrum, in, SAMPLES, &taken, out, 1, &given), PENSTOCK_ERR_STATE);
    CHECK_OK(penstock_stream_pull(spectrum, out, 1, true, &given));
    CHECK_EQ(given, 0);
    CHECK_OK(penstock_stream_get_stats(spectrum, &stats));
    CHECK(stats.in == HOP && stats.out == 0, "%g in, %g out", (double)stats.in, (double)stats.out);
    CHECK_OK(penstock_stream_reset(spectrum));
    CHECK(fabs(run_factor(spectrum, in, SPAN, STEP) - 1) < 1e-4, "a reset forgets the window");
    prepare(spectrum, in, N, HOP, N);
    CHECK_OK(penstock_spectrum_set_window(spectrum, "hann", NULL)); /* freed with the rest */
    penstock_stream_free(spectrum);
    executed++;
}

/* Another weight holds from the next vector on that is handed out, however many samples are in. */
static void check_decays(penstock_context *context, const char *device, enum way way)
{
    static penstock_cf32 in[SAMPLES];
    float out[4 * N];
    double mean = 0;
    penstock_stream *spectrum = NULL;
    uint64_t seed = 5;
    size_t given = 0, count = 0, taken;
    for (size_t i = 0; i < SAMPLES; i++)
        in[i].re = (float)(1 + i / STEP % 7);
    CHECK_OK(penstock_spectrum_open(
        &spectrum, context,
        &PENSTOCK_SPECTRUM_DESC(.n = N, .output = PENSTOCK_OUTPUT_POWER, .decay = 1, .max_latency_s = 1e-9), device));
    for (size_t at = 0; at < SAMPLES; at += taken) {
        const double decay = test_random(&seed) % 5 ? 0.01 + 0.9 * (double)(test_random(&seed) % 100) / 100 : 1;
        const size_t chunk = test_random(&seed) % 90, room = test_random(&seed) % 4;
        CHECK_OK(penstock_spectrum_set_decay(spectrum, decay));
        if (way == RUN) {
            CHECK_OK(penstock_stream_run(spectrum, in + at, chunk < SAMPLES - at ? chunk : SAMPLES - at, &taken, out,
                                         room, &given));
        } else {
            CHECK_OK(penstock_stream_push(spectrum, in + at, chunk < SAMPLES - at ? chunk : SAMPLES - at, &taken));
            CHECK_OK(penstock_stream_pull(spectrum, out, room, test_random(&seed) % 2, &given));
        }
        for (size_t v = 0; v < given; v++, count++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++)
                sum += (double)in[count * N + i].re;
            mean = decay * sum * sum + (1 - decay) * mean;
            CHECK(fabs((double)out[v * N] - mean) <= 1e-6 * mean, "%s, vector %zu: %g, not %g", device, count,
                  (double)out[v * N], mean);
        }
    }
    CHECK(count > 10, "%zu vectors", count);
    penstock_stream_free(spectrum);
    executed++;
}

/* What is no number stays until each vector is given as it is, or a reset; and refusals. */
static void check_decay_ends(penstock_context *context)
{
    penstock_cf32 in[N] = {{1, 0}};
    float out[N];
    size_t taken, given;
    penstock_stream *spectrum = NULL;
    const penstock_spectrum_desc desc = {.size = sizeof desc, .n = N, .output = PENSTOCK_OUTPUT_DECIBEL, .decay = 0.5};
    CHECK_OK(penstock_spectrum_open(&spectrum, context, &desc, "cpu"));
    for (int k = 0; k < 7; k++) {
        in[0].re = k == 1 ? INFINITY : 1;
        CHECK_OK(penstock_spectrum_set_decay(spectrum, k == 4 ? 1 : 0.5));
        if (k == 6)
            CHECK_OK(penstock_stream_reset(spectrum));
        CHECK_OK(penstock_stream_run(spectrum, in, N, &taken, out, 1, &given));
        CHECK_EQ(given, 1);
        const double want = k == 0 || k == 6 ? 10 * log10(0.5) : 0;
        if (k > 0 && k < 4)
            CHECK(!isfinite(out[3]), "vector %d: %g", k, (double)out[3]);
        else
            CHECK(fabs((double)out[3] - want) < 1e-5, "vector %d: %g, not %g dB", k, (double)out[3], want);
    }
    for (int k = 0; k < 5; k++)
        CHECK_EQ(penstock_spectrum_set_decay(spectrum, (double[]){0, -1, 1.0001, NAN, INFINITY}[k]),
                 PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_set_decay(NULL, 0.5), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(spectrum);
    CHECK_EQ(penstock_spectrum_open(&spectrum, context, &PENSTOCK_SPECTRUM_DESC(.n = N, .decay = 0.5), "cpu"),
             PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_open(&spectrum, context, &PENSTOCK_SPECTRUM_DESC(.n = N, .two_sided = true), "cpu"),
             PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_spectrum_open(&spectrum, context,
                                    &PENSTOCK_SPECTRUM_DESC(.n = N, .output = PENSTOCK_OUTPUT_POWER), "cpu"));
    CHECK_EQ(penstock_spectrum_set_decay(spectrum, 0.5), PENSTOCK_ERR_STATE);
    penstock_stream_free(spectrum);
    executed++;
}

static void check_due(penstock_context *context)
{
    static const penstock_cf32 in[3 * N];
    float out[N];
    penstock_stream *spectrum = NULL;
    size_t given;
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = N, .output = PENSTOCK_OUTPUT_POWER, .max_latency_s = 1000);
    CHECK_OK(penstock_spectrum_open(&spectrum, context, &desc, "cpu"));
    CHECK_OK(penstock_stream_push(spectrum, in, N - 1, &(size_t){0}));
    CHECK(isinf(penstock_stream_due_s(spectrum)), "due with no vector in");
    CHECK_OK(penstock_stream_push(spectrum, in, 1, &(size_t){0}));
    double due = penstock_stream_due_s(spectrum);
    CHECK(due > 0 && due <= 1000, "due in %g s", due);
    CHECK_OK(penstock_stream_set_max_latency(spectrum, 1e-9));
    CHECK(penstock_stream_due_s(spectrum) <= 0, "a shorter latency does not hold");
    CHECK_OK(penstock_stream_pull(spectrum, out, 1, false, &given));
    CHECK_EQ(given, 1);
    CHECK(isinf(penstock_stream_due_s(spectrum)) && isinf(penstock_stream_due_s(NULL)), "due with nothing left");
    penstock_stream_free(spectrum);
    executed++;
}

static void check_stats(penstock_context *context)
{
    static const penstock_cf32 in[SAMPLES];
    static float out[VECTORS * N];
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    penstock_stream *spectrum = NULL;
    size_t taken, given;
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = N, .hop = HOP, .average = AVERAGE, .output = PENSTOCK_OUTPUT_DECIBEL);
    CHECK_OK(penstock_spectrum_open(&spectrum, context, &desc, "cpu"));
    CHECK_OK(penstock_stream_run(spectrum, in, 1000, &taken, out, VECTORS, &given));
    CHECK(taken == given * HOP * AVERAGE && given == (1000 - N) / HOP / AVERAGE, "%zu taken, %zu given", taken, given);
    size_t vectors = given, first = taken;
    CHECK_OK(penstock_stream_run(spectrum, in + first, 1000 - first, &taken, out, VECTORS, &given));
    CHECK(first + taken == 1000 && !given, "of the rest %zu taken, %zu given", taken, given);
    CHECK_OK(penstock_stream_get_stats(spectrum, &stats));
    CHECK(stats.in == 1000 && stats.out == vectors && stats.queue < HOP * AVERAGE + N && stats.batch > 1,
          "%g in, %g out, %g wait, batch %g", (double)stats.in, (double)stats.out, (double)stats.queue, stats.batch);
    CHECK(stats.kernel_s > 0 && stats.transfer_s == 0 && stats.latency_p99_s >= stats.latency_p50_s && !stats.fallbacks,
          "kernel %g s", stats.kernel_s);
    CHECK_EQ(penstock_spectrum_set_window(spectrum, "round", NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_set_window(NULL, NULL, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_set_max_latency(spectrum, -1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_get_stats(NULL, &stats), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_run(NULL, NULL, 0, NULL, NULL, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_prepare(NULL, in, 1, &taken, &given), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_prepare(spectrum, NULL, 1, &taken, &given), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_prepare(spectrum, in, 1, NULL, &given), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_prepare(spectrum, in, 1, &taken, NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(spectrum);
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
    for (size_t i = 0; i < 2; i++)
        for (int way = PUSH; way <= RUN; way++)
            check_decays(context, devices[i], (enum way)way);
    check_decay_ends(context);
    check_begun(context);
    check_due(context);
    check_stats(context);
    CHECK_EQ(executed, 14);
    CHECK(ahead > 10, "%d times ahead", ahead);
    penstock_context_free(context);
    return test_finish();
}
