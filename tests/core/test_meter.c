/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The measuring of streams, against events at times that are made up. */
#include "core/stream/meter.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static penstock_stream_stats stats(const struct penstock__meter *meter, double now)
{
    penstock_stream_stats read = PENSTOCK_STREAM_STATS;
    penstock__meter_read(meter, &read, now);
    return read;
}

/* The latency is given as the upper end of a bin, a quarter of an octave wide. */
static void check_latency(double got, double want)
{
    CHECK(got >= want && got <= want * 1.2, "latency %g, not %g", got, want);
}

static void check_nothing(void)
{
    struct penstock__meter meter;
    penstock__meter_start(&meter, 5);
    for (double now = 5; now < 8; now += 1) {
        penstock_stream_stats s = stats(&meter, now);
        CHECK(!s.in && !s.out && !s.queue && s.in_rate_hz == 0 && s.out_rate_hz == 0 && s.batch == 0 &&
                  s.latency_p50_s == 0 && s.latency_p99_s == 0,
              "something came of nothing");
    }
}

/* 1000 items a second in, every tenth of a second; out a quarter of a second later. A rate may be off by one call. */
static void check_rates_and_latency(void)
{
    struct penstock__meter meter;
    uint64_t in = 0, out = 0;
    penstock_stream_stats s;
    penstock__meter_start(&meter, 0);
    for (int tick = 1; tick <= 2000; tick++) { /* of 50 ms */
        if (tick % 2 == 0)
            penstock__meter_take(&meter, 100, tick * 0.05), in += 100;
        if (tick % 2 == 1 && in - out >= 300)
            penstock__meter_give(&meter, 100, out + 1, 1, tick * 0.05), out += 100;
    }
    s = stats(&meter, 100);
    CHECK(s.in == in && s.out == out && s.queue == in - out && in == 100000, "in %g", (double)s.in);
    CHECK(fabs(s.in_rate_hz - 1000) < 101 && fabs(s.out_rate_hz - 1000) < 101, "%g in, %g out a second", s.in_rate_hz,
          s.out_rate_hz);
    check_latency(s.latency_p50_s, 0.25);
    check_latency(s.latency_p99_s, 0.25);
    s = stats(&meter, 200); /* nothing since 100 s: the rate dies away */
    CHECK(s.in_rate_hz < 30, "%g a second after a long silence", s.in_rate_hz);
}

/* Of 1000 items 5 take 2 s and the others 1 ms: in their order, then the median and the 99th of a hundred. */
static void check_percentiles(void)
{
    struct penstock__meter meter;
    double now = 0;
    penstock__meter_start(&meter, now);
    for (uint64_t i = 0; i < 1000; i++) {
        penstock__meter_take(&meter, 1, now);
        now += i % 200 == 7 ? 2 : 0.001;
        penstock__meter_give(&meter, 1, i + 1, 1, now);
    }
    check_latency(stats(&meter, now).latency_p50_s, 0.001);
    check_latency(stats(&meter, now).latency_p99_s, 0.001);
    for (uint64_t i = 1000; i < 1020; i++) {
        penstock__meter_take(&meter, 1, now);
        penstock__meter_give(&meter, 1, i + 1, 1, now + 2);
        now += 2;
    }
    check_latency(stats(&meter, now).latency_p99_s, 2);
}

/* Items that come in many calls and go in one, and the other way round: each keeps its own time. */
static void check_spans(void)
{
    struct penstock__meter meter;
    penstock__meter_start(&meter, 0);
    for (int i = 0; i < 10; i++)
        penstock__meter_take(&meter, 10, i); /* items 10 i + 1 .. 10 i + 10 at i seconds */
    penstock__meter_give(&meter, 10, 10, 10, 10);
    CHECK(!stats(&meter, 10).queue, "the queue is %g", (double)stats(&meter, 10).queue);
    for (unsigned bin = 0, items = 0; bin < PENSTOCK__METER_BINS; bin++) {
        items += (unsigned)meter.latencies[bin];
        CHECK(bin < PENSTOCK__METER_BINS - 1 || items == 10, "%u items in all", items);
    }
    check_latency(stats(&meter, 10).latency_p50_s, 5); /* 1 .. 10 s, the lower median */
    check_latency(stats(&meter, 10).latency_p99_s, 10);
    penstock__meter_start(&meter, 0);
    for (int i = 0; i < 1000; i++) /* more than it remembers one by one */
        penstock__meter_take(&meter, 1, i);
    penstock__meter_give(&meter, 1000, 1, 1, 1000);
    CHECK(stats(&meter, 1000).out == 1000 && !stats(&meter, 1000).queue, "items are missing");
    check_latency(stats(&meter, 1000).latency_p99_s, 1000);
    CHECK(stats(&meter, 1000).latency_p50_s < 1.2 * 501 + 1000 / 32.0, "the median is %g",
          stats(&meter, 1000).latency_p50_s); /* of 1 .. 1000 s, by a 32nd of the time that is remembered too late */
}

/* What nothing will come of does not wait, and does not make what follows look late. */
static void check_skipped(void)
{
    struct penstock__meter meter;
    penstock__meter_start(&meter, 0);
    for (int i = 0; i < 500; i++) {
        penstock__meter_take(&meter, 10, i);
        penstock__meter_skip(&meter, (uint64_t)i * 10 + 4);
        CHECK(stats(&meter, i).queue == 6, "the queue is %g", (double)stats(&meter, i).queue);
    }
    penstock__meter_give(&meter, 1, 4998, 0, 500);
    CHECK(stats(&meter, 500).queue == 2 && stats(&meter, 500).out == 1, "the queue is %g",
          (double)stats(&meter, 500).queue);
    check_latency(stats(&meter, 500).latency_p99_s, 1);
    penstock__meter_give(&meter, 1, 100, 0, 500);
    CHECK(stats(&meter, 500).queue == 2, "an earlier place makes the queue %g", (double)stats(&meter, 500).queue);
}

static void check_batches(void)
{
    struct penstock__meter meter;
    penstock_stream_stats s;
    penstock__meter_start(&meter, 0);
    penstock__meter_batch(&meter, 10, 0.5);
    penstock__meter_batch(&meter, 30, 1.5);
    s = stats(&meter, 1);
    CHECK(s.batch == 20 && s.transfer_s == 0 && s.kernel_s == 1, "%g, %g, %g", s.batch, s.transfer_s, s.kernel_s);
    meter.event_times.transfer_s += 1; /* as a device's clock does */
    meter.event_times.kernel_s += 2;
    s = stats(&meter, 1);
    CHECK(s.batch == 20 && s.transfer_s == 0.5 && s.kernel_s == 2, "%g, %g, %g", s.batch, s.transfer_s, s.kernel_s);
    penstock__meter_start(&meter, 1);
    penstock__meter_straight(&meter, 64, 4, 1, 1.5);
    s = stats(&meter, 2);
    CHECK(s.in == 64 && s.out == 4 && !s.queue && s.batch == 4 && s.kernel_s == 0.5 && s.transfer_s == 0, "straight");
    check_latency(s.latency_p50_s, 0.5);
}

int main(void)
{
    check_nothing();
    check_rates_and_latency();
    check_percentiles();
    check_spans();
    check_skipped();
    check_batches();
    return test_finish();
}
