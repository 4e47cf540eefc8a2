/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a filter tells of itself: samples, values, what waits, latency of a value that was held back, batches. */
#include "test.h"

#include <penstock/penstock.h>
#include <time.h>

#define SAMPLES 200000

static penstock_cf32 samples[SAMPLES], values[4 * SAMPLES];
static const float taps[] = {1, 2, 3, 2, 1};
static int cases;

static penstock_stream_stats stats_of(const penstock_stream *filter)
{
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    CHECK_OK(penstock_stream_get_stats(filter, &stats));
    return stats;
}

static void push_and_pull(penstock_stream *filter, size_t most, bool both)
{
    size_t taken, made = 1;
    for (size_t at = 0; at < SAMPLES; at += taken) {
        size_t chunk = SAMPLES - at < most ? SAMPLES - at : most;
        if (both) {
            CHECK_OK(penstock_stream_run(filter, samples + at, chunk, &taken, values, 4 * SAMPLES, &made));
            continue;
        }
        CHECK_OK(penstock_stream_push(filter, samples + at, chunk, &taken));
        CHECK_OK(penstock_stream_pull(filter, values, 4 * SAMPLES, true, &made));
    }
    penstock_stream_stats half = stats_of(filter);
    CHECK(half.in == SAMPLES && half.queue < SAMPLES / 2, "%d in, %d wait", (int)half.in, (int)half.queue);
    CHECK_OK(penstock_stream_finish(filter));
    for (made = 1; made;)
        CHECK_OK(penstock_stream_pull(filter, values, 4 * SAMPLES, true, &made));
}

static void check_counts(penstock_context *context, const char *device)
{
    static const size_t decimations[] = {1, 4, 3}, interpolations[] = {1, 1, 2};
    for (int i = 0; i < 3; i++)
        for (int both = 0; both < 2; both++)
            for (size_t most = 999; most < 100000; most *= 60) {
                penstock_stream *filter = NULL;
                CHECK_OK(penstock_filter_open(&filter, context,
                                              &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 5,
                                                                    .decimation = decimations[i],
                                                                    .interpolation = interpolations[i]),
                                              device));
                for (int run = 0; run < 2; run++) { /* a reset forgets the first */
                    push_and_pull(filter, most, both);
                    penstock_stream_stats s = stats_of(filter);
                    uint64_t out = (SAMPLES * interpolations[i] + decimations[i] - 1) / decimations[i];
                    CHECK(s.in == SAMPLES && s.out == out && s.queue < decimations[i] && !s.drops && !s.fallbacks,
                          "%d in, %d out, %d wait", (int)s.in, (int)s.out, (int)s.queue);
                    CHECK(s.batch >= 1 && s.kernel_s > 0 && s.transfer_s == 0 && s.latency_p50_s > 0 &&
                              s.latency_p99_s >= s.latency_p50_s && s.in_rate_hz > 0 && s.out_rate_hz > 0,
                          "batch %g, kernel %g s, latency %g and %g s", s.batch, s.kernel_s, s.latency_p50_s,
                          s.latency_p99_s);
                    CHECK_OK(penstock_stream_reset(filter));
                }
                CHECK_EQ(stats_of(filter).in, 0);
                penstock_stream_free(filter);
                cases++;
            }
}

/* A value that waits for the rest of its block is as late as it waits. */
static void check_latency(penstock_context *context)
{
    penstock_stream *filter = NULL;
    size_t count;
    CHECK_OK(penstock_filter_open(&filter, context, &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 5), "cpu"));
    CHECK_OK(penstock_stream_push(filter, samples, 9, &count));
    CHECK_EQ(stats_of(filter).queue, 9);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    CHECK_OK(penstock_stream_flush(filter));
    CHECK_OK(penstock_stream_pull(filter, values, 9, true, &count));
    CHECK_EQ(count, 9);
    CHECK(stats_of(filter).latency_p50_s >= 0.02 && !stats_of(filter).queue, "latency %g",
          stats_of(filter).latency_p50_s);
    CHECK_EQ(penstock_stream_get_stats(NULL, NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(filter);
}

int main(void)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    check_counts(context, "cpu");
    check_latency(context);
    CHECK_EQ(cases, 12);
    penstock_context_free(context);
    printf("%d cases\n", cases);
    return test_finish();
}
