/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The receiver's promises on transmitted frames: every rate and clock, frames on each other's heels, reasons, counters,
 * latency, life cycle. */
#include "wifi_stream.h"

static penstock_context *context;

static void test_rates_and_gaps(void)
{
    static const int gaps[] = {320, 40, 12, 0, -3};
    static struct wifi_frames frames;
    for (int profile = 0; profile < 3; profile++)
        for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
            char what[64];
            struct wifi_stream *stream = wifi_make_stream((penstock_wifi_profile)profile, 24, gaps[g], 5 + g);
            penstock_stream *receiver = wifi_make_receiver(
                context, &PENSTOCK_WIFI_RECEIVER_DESC(.profile = (penstock_wifi_profile)profile), "cpu");
            wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, stream->samples, stream->count, 0);
            snprintf(what, sizeof what, "profile %d, gap %d", profile, gaps[g]);
            wifi_check_stream(stream, &frames, what);
            CHECK(frames.frame[0].bandwidth_hz == penstock_wifi_rate_hz((penstock_wifi_profile)profile), "%g Hz",
                  frames.frame[0].bandwidth_hz);
            wifi_frames_free(&frames);
            penstock_stream_free(receiver);
            wifi_stream_free(stream);
        }
}

static void test_reasons(void)
{
    static struct wifi_frames frames;
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), "cpu");
    uint8_t psdu[100] = {1, 2, 3};
    uint64_t state = 3;
    size_t count;
    /* No FCS at all. */
    penstock_cf32 *samples =
        wifi_transmit(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 24), psdu, sizeof psdu, 300, 300, &count);
    wifi_add_noise(samples, count, 1e-4, &state);
    wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, samples, count, 0);
    CHECK(frames.count == 1 && frames.frame[0].decoded && !frames.frame[0].fcs_ok, "%zu frames", frames.count);
    CHECK(frames.count && !strcmp(frames.frame[0].reason, "FCS differs: 0.0 raw bit errors per 1000"), "%s",
          frames.count ? frames.frame[0].reason : "");
    CHECK(frames.count && !memcmp(frames.frame[0].psdu, psdu, sizeof psdu), "the octets are there all the same");
    wifi_frames_free(&frames);
    /* The stream ends in the data, and in the SIGNAL field. */
    static const size_t ends[] = {300 + 500, 300 + 350};
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(penstock_stream_reset(receiver));
        wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, samples, ends[i], 0);
        CHECK(frames.count == 1 && !frames.frame[0].decoded && !frames.frame[0].psdu, "%zu frames", frames.count);
        CHECK(frames.count && !strcmp(frames.frame[0].reason, "stream ended within the frame"), "%s",
              frames.count ? frames.frame[0].reason : "");
        CHECK_EQ(frames.counters.truncated, 1);
        wifi_frames_free(&frames);
    }
    /* No SIGNAL field: a stretch of noise in its place. */
    memset(samples + 620, 0, (count - 620) * sizeof *samples);
    wifi_add_noise(samples + 620, count - 620, 1, &state);
    CHECK_OK(penstock_stream_reset(receiver));
    wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, samples, count, 0);
    CHECK(frames.count == 1 && frames.frame[0].format == PENSTOCK_WIFI_UNKNOWN, "%zu frames", frames.count);
    CHECK(frames.count && !strncmp(frames.frame[0].reason, "SIGNAL ", 7), "%s",
          frames.count ? frames.frame[0].reason : "");
    wifi_frames_free(&frames);
    free(samples);
    penstock_stream_free(receiver);
}

/* NaN and infinity before, within and after frames cost the frame that they hit, and no other. */
static void test_not_finite(void)
{
    static struct wifi_frames frames;
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 16, 100, 21);
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), "cpu");
    size_t wrong = 0;
    for (size_t i = 0; i < 400; i++, wrong++)
        stream->samples[i].re = i % 2 ? NAN : INFINITY;
    for (size_t i = stream->start[4] + 450; i < stream->start[4] + 900; i++, wrong++)
        stream->samples[i].im = i % 3 ? -INFINITY : NAN;
    for (size_t i = stream->start[9] - 80; i < stream->start[9] - 10; i++, wrong++)
        stream->samples[i] = (penstock_cf32){NAN, 3e38F};
    wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, stream->samples, stream->count, 0);
    CHECK_EQ(frames.counters.not_finite, wrong);
    for (size_t k = 0; k < stream->frames; k++) {
        size_t found = 0;
        for (size_t i = 0; i < frames.count; i++)
            found += frames.frame[i].fcs_ok && frames.frame[i].length == stream->length[k] &&
                     !memcmp(frames.frame[i].psdu, stream->psdu[k], stream->length[k]);
        CHECK(found == (k != 4), "frame %zu was found %zu times", k, found);
    }
    wifi_frames_free(&frames);
    penstock_stream_free(receiver);
    wifi_stream_free(stream);
}

static void test_clipping(void)
{
    static const int16_t words[] = {0, 0, 32767, 0, 0, -32768, 32766, -32767, 32767, 32767};
    static const int8_t bytes[] = {0, 0, 127, 0, 0, -128, 126, -127};
    static const uint8_t unsigned_bytes[] = {128, 127, 255, 1, 0, 7, 254, 1};
    static const struct {
        penstock_format format;
        const void *samples;
        size_t count, clipped;
    } cases[] = {{PENSTOCK_CS16, words, 5, 3}, {PENSTOCK_CS8, bytes, 4, 2}, {PENSTOCK_CU8, unsigned_bytes, 4, 2}};
    for (size_t i = 0; i < 3; i++) {
        penstock_wifi_counters counters = PENSTOCK_WIFI_COUNTERS;
        penstock_stream *receiver =
            wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.format = cases[i].format), "cpu");
        CHECK_OK(penstock_stream_push(receiver, cases[i].samples, cases[i].count, NULL));
        CHECK_OK(penstock_wifi_receiver_get_counters(receiver, &counters));
        CHECK_EQ(counters.clipped, cases[i].clipped);
        CHECK_EQ(counters.samples, cases[i].count);
        penstock_stream_free(receiver);
    }
}

/* A complete frame can be pulled when `max_latency_s` more of the stream is there. */
static void test_latency(void)
{
    static const double latencies[] = {20e-6, 100e-6, 1e-3};
    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++) {
        struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 8, 20000, 8);
        penstock_stream *receiver =
            wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = latencies[i]), "cpu");
        size_t pushed = 0, allowed = (size_t)(latencies[i] * 20e6);
        allowed = allowed < 400 ? 400 : allowed;
        for (size_t k = 0; k < stream->frames; k++) {
            penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = stream->mbps[k]);
            size_t end = stream->start[k] + penstock_wifi_frame_samples(&desc, stream->length[k]) + allowed;
            penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
            end = end < stream->count ? end : stream->count;
            CHECK_OK(penstock_stream_push(receiver, stream->samples + pushed, end - pushed, NULL));
            pushed = end;
            CHECK(penstock_wifi_receiver_pull(receiver, &frame) == 1 || end == stream->count,
                  "frame %zu is not there within %g s", k, latencies[i]);
        }
        penstock_stream_free(receiver);
        wifi_stream_free(stream);
    }
}

/* What is told of a stream: its samples, its frames, and that none of it waits once the last frame is there. */
static void test_stats(void)
{
    for (size_t most = 79; most < 200000; most *= 50) {
        struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 20, 3000, 5);
        penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = true), "cpu");
        penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
        penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
        size_t frames = 0;
        for (size_t at = 0; at < stream->count; at += most) {
            size_t left = stream->count - at;
            CHECK_OK(penstock_stream_push(receiver, stream->samples + at, left < most ? left : most, NULL));
            while (penstock_wifi_receiver_pull(receiver, &frame) > 0)
                frames++;
        }
        CHECK_OK(penstock_stream_get_stats(receiver, &stats));
        CHECK(stats.in == stream->count && stats.out == frames && stats.queue <= stream->count,
              "%d in, %d out, %d wait", (int)stats.in, (int)stats.out, (int)stats.queue);
        CHECK_OK(penstock_stream_finish(receiver));
        while (penstock_wifi_receiver_pull(receiver, &frame) > 0)
            frames++;
        CHECK_OK(penstock_stream_get_stats(receiver, &stats));
        CHECK_EQ(frames, stream->frames);
        CHECK(stats.out == frames && !stats.queue && !stats.drops && !stats.fallbacks, "%d out, %d wait",
              (int)stats.out, (int)stats.queue);
        CHECK(stats.batch >= 1 && stats.batch <= (double)frames && stats.kernel_s > 0 && stats.transfer_s == 0 &&
                  stats.latency_p50_s > 0 && stats.latency_p99_s >= stats.latency_p50_s && stats.in_rate_hz > 0,
              "batch %g, kernel %g s, latency %g and %g s", stats.batch, stats.kernel_s, stats.latency_p50_s,
              stats.latency_p99_s);
        penstock_stream_free(receiver);
        wifi_stream_free(stream);
    }
    CHECK_EQ(penstock_stream_get_stats(NULL, NULL), PENSTOCK_ERR_ARGUMENT);
}

static void test_points(void)
{
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 3, 500, 31);
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = true), "cpu");
    static const size_t data_bits[] = {24, 36, 48};
    static const double level[] = {1, 1, 0.7071};
    CHECK_OK(penstock_stream_push(receiver, stream->samples, stream->count, NULL));
    CHECK_OK(penstock_stream_finish(receiver));
    for (size_t k = 0; k < 3; k++) {
        penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
        CHECK_EQ(penstock_wifi_receiver_pull(receiver, &frame), 1);
        size_t symbols = (16 + 8 * stream->length[k] + 6 + data_bits[k] - 1) / data_bits[k];
        CHECK(frame.points && frame.point_count == 48 * symbols, "%zu points", frame.point_count);
        for (size_t i = 0; frame.points && i < frame.point_count; i++)
            CHECK(fabs(fabs((double)frame.points[i].re) - level[k]) < 0.3, "point %zu of frame %zu is %g", i, k,
                  (double)frame.points[i].re);
    }
    penstock_stream_free(receiver);
    wifi_stream_free(stream);
}

static void test_life_cycle(void)
{
    static struct wifi_frames first, second;
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 8, 60, 41);
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), "cpu");
    wifi_frames_receive(&first, receiver, PENSTOCK_CF32, stream->samples, stream->count, 1000);
    wifi_check_stream(stream, &first, "first time");
    CHECK_OK(penstock_stream_finish(receiver));
    CHECK_EQ(penstock_stream_push(receiver, stream->samples, 1, NULL), PENSTOCK_ERR_STATE);
    CHECK_OK(penstock_stream_reset(receiver));
    wifi_frames_receive(&second, receiver, PENSTOCK_CF32, stream->samples, stream->count, 1);
    CHECK(wifi_frames_equal(&first, &second), "after a reset");
    CHECK(!strcmp(penstock_stream_device(receiver), "cpu"), "%s", penstock_stream_device(receiver));
    /* Stopped halfway. */
    CHECK_OK(penstock_stream_reset(receiver));
    CHECK_OK(penstock_stream_push(receiver, stream->samples, stream->count / 2, NULL));
    CHECK_OK(penstock_stream_reset(receiver));
    wifi_frames_free(&second);
    wifi_frames_receive(&second, receiver, PENSTOCK_CF32, stream->samples, stream->count, 0);
    CHECK(wifi_frames_equal(&first, &second), "after a reset in mid-stream");
    wifi_frames_free(&first);
    wifi_frames_free(&second);
    penstock_stream_free(receiver);
    penstock_stream_free(NULL);
    wifi_stream_free(stream);
}

static void test_arguments(void)
{
    penstock_stream *receiver = (penstock_stream *)&receiver;
    penstock_wifi_receiver_desc good = PENSTOCK_WIFI_RECEIVER_DESC(.points = false), bad = good;
    penstock_wifi_frame frame = {0};
    penstock_wifi_counters counters = {0};
    CHECK_EQ(penstock_wifi_receiver_open(NULL, context, &good, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_receiver_open(&receiver, NULL, &good, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_receiver_open(&receiver, context, NULL, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK(!receiver, "not NULL after an error");
    bad.size = 0;
    CHECK_EQ(penstock_wifi_receiver_open(&receiver, context, &bad, NULL), PENSTOCK_ERR_ARGUMENT);
    bad = good;
    bad.profile = (penstock_wifi_profile)3;
    CHECK_EQ(penstock_wifi_receiver_open(&receiver, context, &bad, NULL), PENSTOCK_ERR_ARGUMENT);
    static const penstock_format formats[] = {PENSTOCK_PLANAR, PENSTOCK_F32, (penstock_format)99};
    for (size_t i = 0; i < 3; i++) {
        bad = good;
        bad.format = formats[i];
        CHECK_EQ(penstock_wifi_receiver_open(&receiver, context, &bad, NULL), PENSTOCK_ERR_ARGUMENT);
    }
    static const double latencies[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++) {
        bad = good;
        bad.max_latency_s = latencies[i];
        CHECK_EQ(penstock_wifi_receiver_open(&receiver, context, &bad, NULL), PENSTOCK_ERR_ARGUMENT);
    }
    CHECK_EQ(penstock_wifi_receiver_open(&receiver, context, &good, "no such device"), PENSTOCK_ERR_NO_DEVICE);
    CHECK_EQ(penstock_stream_push(NULL, &frame, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_finish(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_reset(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_receiver_pull(NULL, &frame), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_receiver_get_counters(NULL, &counters), PENSTOCK_ERR_ARGUMENT);
    CHECK(!penstock_stream_device(NULL), "a device of nothing");
    receiver = wifi_make_receiver(context, &good, "cpu");
    CHECK_EQ(penstock_stream_push(receiver, NULL, 5, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_stream_push(receiver, NULL, 0, NULL));
    CHECK_EQ(penstock_wifi_receiver_pull(receiver, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_receiver_pull(receiver, &frame), PENSTOCK_ERR_ARGUMENT); /* its size is not set */
    CHECK_EQ(penstock_wifi_receiver_get_counters(receiver, &counters), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(receiver);
}

int main(void)
{
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    test_arguments();
    test_life_cycle();
    test_rates_and_gaps();
    test_reasons();
    test_not_finite();
    test_clipping();
    test_latency();
    test_stats();
    test_points();
    penstock_context_free(context);
    return test_finish();
}
