/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A source that stalls: a frame whose samples are there comes when the limit of the latency has passed, and stalls,
 * wherever they are, change no bit of what comes, nor lose or repeat it. The clock is the test's own.
 */
#include "rx/receiver.h"
#include "wifi_recordings.h"
#include "wifi_stream.h"

#include <stdatomic.h>
#include <time.h>

#define AFTER_END 16 /* samples that a frame of a slow clock may last longer than its length says */

static penstock_context *context;
static _Atomic uint64_t clock_ns = 1000000000000; /* goes on by one microsecond each time that it is asked */

int __wrap_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    uint64_t now = atomic_fetch_add(&clock_ns, 1000);
    *time = (struct timespec){.tv_sec = (time_t)(now / 1000000000), .tv_nsec = (long)(now % 1000000000)};
    return 0;
}

static void pass_s(double seconds)
{
    atomic_fetch_add(&clock_ns, (uint64_t)(seconds * 1e9));
}

/* What lies behind the last sample, of an earlier stream, say, must not be looked at. */
static void restart(penstock_stream *stream)
{
    struct penstock__rx *receiver = (struct penstock__rx *)(void *)stream;
    memset(receiver->samples, 0xff, receiver->capacity * sizeof *receiver->samples); /* not a number */
    CHECK_OK(penstock_stream_reset(stream));
}

/* ---------------------------------------------------------------- the limit ------------------- */

/* A frame at 30 dB with `around` samples of noise before and after it. */
static penstock_cf32 *one_frame(double mbps, size_t length, size_t around, size_t *count)
{
    static uint8_t psdu[4095];
    uint64_t state = length;
    wifi_psdu(psdu, length, &state);
    penstock_cf32 *samples =
        wifi_transmit(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = mbps), psdu, length, around, around, count);
    wifi_add_noise(samples, *count, 1e-3, &state);
    return samples;
}

static void test_limit(void)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = true), "cpu");
    size_t count, around = 700;
    penstock_cf32 *samples = one_frame(24, 100, around, &count);
    CHECK(isinf(penstock_stream_due_s(NULL)), "of nothing");
    CHECK(isinf(penstock_stream_due_s(receiver)), "before the first sample");
    CHECK_OK(penstock_stream_push(receiver, samples, count - around, NULL));
    double due_s = penstock_stream_due_s(receiver);
    CHECK(due_s > 0.009 && due_s <= 0.01, "%g s", due_s);
    CHECK_OK(penstock_stream_set_max_latency(receiver, 1000)); /* holds for what waits too */
    due_s = penstock_stream_due_s(receiver);
    CHECK(due_s > 999 && due_s <= 1000, "%g s", due_s);
    CHECK_EQ(penstock_wifi_receiver_pull(receiver, &frame), 0);
    pass_s(500);
    CHECK_OK(penstock_stream_push(receiver, samples + count - around, 10, NULL)); /* the oldest sample counts */
    due_s = penstock_stream_due_s(receiver);
    CHECK(due_s > 499 && due_s <= 500, "%g s", due_s);
    CHECK_EQ(penstock_wifi_receiver_pull(receiver, &frame), 0);
    pass_s(500);
    CHECK(penstock_stream_due_s(receiver) == 0, "%g s", penstock_stream_due_s(receiver));
    CHECK_EQ(penstock_wifi_receiver_pull(receiver, &frame), 1);
    CHECK(frame.fcs_ok && frame.length == 100, "%u octets", frame.length);
    CHECK_EQ(penstock_wifi_receiver_pull(receiver, &frame), 0);
    CHECK(isinf(penstock_stream_due_s(receiver)), "nothing waits");
    pass_s(500);
    CHECK_OK(penstock_stream_push(receiver, samples + count - around + 10, 10, NULL)); /* a new wait begins */
    due_s = penstock_stream_due_s(receiver);
    CHECK(due_s > 999 && due_s <= 1000, "%g s", due_s);
    CHECK_OK(penstock_stream_finish(receiver));
    CHECK_EQ(penstock_wifi_receiver_pull(receiver, &frame), 0);
    CHECK(isinf(penstock_stream_due_s(receiver)), "at the end");
    CHECK_OK(penstock_stream_reset(receiver));
    CHECK_OK(penstock_stream_push(receiver, samples, count, NULL));
    CHECK_OK(penstock_stream_finish(receiver));
    CHECK(penstock_stream_due_s(receiver) == 0, "a frame can be pulled");
    CHECK_OK(penstock_stream_reset(receiver));
    CHECK(isinf(penstock_stream_due_s(receiver)), "after a reset");
    penstock_stream_free(receiver);
    free(samples);
}

/* ---------------------------------------------------------------- stalls at every sample ------ */

static bool same_counters(const penstock_wifi_counters *a, const penstock_wifi_counters *b)
{
    return a->samples == b->samples && a->triggers == b->triggers && a->synchronised == b->synchronised &&
           a->signals == b->signals && a->decoded == b->decoded && a->fcs_ok == b->fcs_ok &&
           a->unsupported == b->unsupported && a->truncated == b->truncated;
}

struct single {
    penstock_cf32 *samples;
    size_t count, start, end; /* where the frame, as far as it must be known, begins and ends */
    struct wifi_frames whole;
};

/* The stream stops at `cut`: the frame is there if its samples are, not otherwise, and the same at the end. */
static void check_cut(penstock_stream *receiver, const struct single *single, size_t cut)
{
    static struct wifi_frames frames;
    const penstock_wifi_frame *frame = &single->whole.frame[0];
    restart(receiver);
    frames.count = 0;
    CHECK_OK(penstock_stream_push(receiver, single->samples, cut, NULL));
    pass_s(1);
    wifi_frames_pull(&frames, receiver);
    CHECK(cut < single->end || frames.count == 1, "%g Mb/s, %u octets: not there %zu samples after the end",
          frame->rate_mbps, frame->length, cut - single->end);
    CHECK(cut + 3 >= single->end || !frames.count, "%g Mb/s, %u octets: there %zu samples before the end",
          frame->rate_mbps, frame->length, single->end - cut);
    CHECK_OK(penstock_stream_push(receiver, single->samples + cut, single->count - cut, NULL));
    pass_s(1);
    wifi_frames_pull(&frames, receiver);
    CHECK_EQ(frames.count, 1);
    CHECK_OK(penstock_stream_finish(receiver));
    wifi_frames_pull(&frames, receiver);
    CHECK(wifi_frames_equal(&single->whole, &frames) && same_counters(&single->whole.counters, &frames.counters),
          "%g Mb/s, %u octets, stall at %zu of %zu: not the same", frame->rate_mbps, frame->length, cut, single->end);
    wifi_frames_free(&frames);
}

static void check_single(penstock_stream *receiver, double mbps, size_t length, size_t around, bool turned)
{
    static struct single single;
    single.samples = one_frame(mbps, length, around, &single.count);
    for (size_t i = around + 400; turned && i < around + 560; i++) /* the mark of HT: quarter turns behind SIGNAL */
        single.samples[i] = (penstock_cf32){-single.samples[i].im, single.samples[i].re};
    restart(receiver);
    wifi_frames_receive(&single.whole, receiver, PENSTOCK_CF32, single.samples, single.count, 0);
    CHECK(single.whole.count == 1 && single.whole.frame[0].sample == around, "%zu frames", single.whole.count);
    CHECK(single.whole.frame[0].format == (turned ? PENSTOCK_WIFI_HT : PENSTOCK_WIFI_LEGACY), "format");
    if (single.whole.count == 1) {
        single.start = (size_t)single.whole.frame[0].sample;
        single.end = single.start + (turned ? 560 : (size_t)single.whole.frame[0].samples);
        for (size_t cut = single.start + 350; cut < single.start + 620; cut++)
            check_cut(receiver, &single, cut);
        for (size_t cut = single.end - 20; cut < single.end + 20; cut++)
            check_cut(receiver, &single, cut);
        for (size_t cut = single.start - 50; cut < single.count; cut += 61)
            check_cut(receiver, &single, cut);
    }
    wifi_frames_free(&single.whole);
    free(single.samples);
}

static void test_every_sample(void)
{
    static const size_t lengths[] = {5, 12, 23, 40, 70};
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = true), "cpu");
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            check_single(receiver, wifi_rates_mbps[i], lengths[k], 700 + (5 * i + 3 * k) % 16, false);
    check_single(receiver, 6, 70, 703, true);
    penstock_stream_free(receiver);
}

/* ---------------------------------------------------------------- stalls anywhere ------------- */

struct stalling {
    const char *what;
    const void *samples;
    size_t count, most; /* the largest chunk */
    uint64_t after;     /* samples after a frame's end by which it must have come; UINT64_MAX: not looked at */
    uint64_t seed;
};

/* Chunks and stalls of any length at any place. */
static void check_stalls(penstock_stream *receiver, const struct stalling *s, const struct wifi_frames *whole)
{
    static struct wifi_frames frames;
    const penstock_cf32 *samples = s->samples;
    uint64_t state = s->seed;
    size_t stalls = 0;
    restart(receiver);
    frames.count = 0;
    for (size_t done = 0, part; done < s->count; done += part) {
        part = 1 + (size_t)(test_random(&state) % s->most);
        part = part < s->count - done ? part : s->count - done;
        CHECK_OK(penstock_stream_push(receiver, samples + done, part, NULL));
        if (test_random(&state) % 2)
            wifi_frames_pull(&frames, receiver);
        if (test_random(&state) % 2)
            continue;
        pass_s(1);
        stalls++;
        wifi_frames_pull(&frames, receiver);
        CHECK(isinf(penstock_stream_due_s(receiver)), "%s: something still waits", s->what);
        for (size_t k = frames.count; k < whole->count && s->after < UINT64_MAX; k++)
            CHECK(whole->frame[k].sample + whole->frame[k].samples + s->after > done + part,
                  "%s, seed %" PRIu64 ": frame %zu is not there", s->what, s->seed, k);
    }
    CHECK_OK(penstock_stream_finish(receiver));
    wifi_frames_pull(&frames, receiver);
    CHECK(stalls > 2, "%s: %zu stalls", s->what, stalls);
    CHECK(wifi_frames_equal(whole, &frames), "%s, seed %" PRIu64 ": other frames, %zu and %zu", s->what, s->seed,
          whole->count, frames.count);
    CHECK(same_counters(&whole->counters, &frames.counters), "%s, seed %" PRIu64 ": other counters", s->what, s->seed);
    wifi_frames_free(&frames);
}

static void check_stream(const char *what, const penstock_cf32 *samples, size_t count, uint64_t after, size_t least)
{
    static const size_t most[] = {150, 9000, 60000, 700}; /* samples of a chunk */
    static struct wifi_frames whole;
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = true), "cpu");
    wifi_frames_receive(&whole, receiver, PENSTOCK_CF32, samples, count, 0);
    CHECK(whole.count >= least, "%s: %zu frames", what, whole.count);
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct stalling s = {.what = what, .samples = samples, .count = count, .after = after, .seed = seed};
        s.most = most[seed % 4] < count / 8 ? most[seed % 4] : count / 8;
        check_stalls(receiver, &s, &whole);
    }
    wifi_frames_free(&whole);
    penstock_stream_free(receiver);
}

static void test_streams(void)
{
    static const int gaps[] = {400, 40, 0, -3};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 24, gaps[g], 50 + g);
        /* Of frames that touch, the one before is known as such once the next one is. */
        check_stream("transmitted", stream->samples, stream->count, gaps[g] < 20 ? AFTER_END : 0, 24);
        wifi_stream_free(stream);
    }
}

/* Long frames of a clock that is slow, or quick: the pilots tell that symbols lie elsewhere. */
static void test_clocks(void)
{
    static uint8_t psdu[3900];
    for (int i = 0; i < 2; i++) {
        size_t count, made = 0, tail = 0, taken;
        uint64_t state = 7;
        penstock_channel *channel = NULL;
        wifi_psdu(psdu, sizeof psdu, &state);
        penstock_cf32 *frame =
            wifi_transmit(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 6), psdu, sizeof psdu, 600, 600, &count);
        penstock_cf32 *sent = calloc(3 * count, sizeof *sent), *heard = calloc(3 * count + 1000, sizeof *heard);
        for (size_t k = 0; k < 3; k++)
            memcpy(sent + k * count, frame, count * sizeof *frame);
        CHECK_OK(
            penstock_channel_new(&channel, &PENSTOCK_CHANNEL_DESC(.rate_hz = 20e6, .cfo_hz = 1e5, .noise_power = 1e-3,
                                                                  .sfo_ppm = i ? -80 : 80, .seed = 5)));
        CHECK_OK(penstock_channel_run(channel, sent, 3 * count, &taken, heard, 3 * count + 500, &made));
        CHECK_EQ(taken, 3 * count);
        CHECK_OK(penstock_channel_run(channel, NULL, 0, &taken, heard + made, 3 * count + 1000 - made, &tail));
        check_stream(i ? "-80 ppm" : "80 ppm", heard, made + tail, AFTER_END, 3);
        penstock_channel_free(channel);
        free(heard);
        free(sent);
        free(frame);
    }
}

/* Frames of any levels on top of each other: what is found may not depend on what was taken before. */
static void test_collisions(void)
{
    for (uint64_t seed = 1; seed < 9; seed++) {
        static uint8_t psdu[400];
        uint64_t state = seed;
        size_t total = 60000, count;
        penstock_cf32 *samples = calloc(total, sizeof *samples);
        for (size_t k = 0; k < 120; k++) {
            size_t length = 5 + test_random(&state) % 380, at = test_random(&state) % (total - 7000);
            float level = (float)exp2(test_uniform(&state) * 2);
            double mbps = wifi_rates_mbps[2 + test_random(&state) % 6];
            wifi_psdu(psdu, length, &state);
            penstock_cf32 *frame =
                wifi_transmit(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = mbps), psdu, length, 0, 0, &count);
            for (size_t i = 0; i < count; i++) {
                samples[at + i].re += level * frame[i].re;
                samples[at + i].im += level * frame[i].im;
            }
            free(frame);
        }
        wifi_add_noise(samples, total, 1e-3, &state);
        check_stream("collisions", samples, total, UINT64_MAX, 5);
        free(samples);
    }
}

static void test_recorded(void)
{
    static struct wifi_truth rows[WIFI_MAX_ROWS];
    const char *folder = test_recordings();
    if (!folder)
        return;
    size_t count = wifi_truth_read(rows, folder);
    CHECK(count > 0, "truth.tsv cannot be read");
    for (size_t i = 0; i < count; i++) {
        struct wifi_recording recording;
        if (i && !strcmp(rows[i].file, rows[i - 1].file))
            continue;
        CHECK(wifi_recording_read(&recording, folder, rows[i].file), "%s cannot be read", rows[i].file);
        check_stream(rows[i].file, recording.samples, recording.count, UINT64_MAX, 0);
        wifi_recording_free(&recording);
    }
}

int main(void)
{
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    test_limit();
    test_every_sample();
    test_streams();
    test_clocks();
    test_collisions();
    test_recorded();
    penstock_context_free(context);
    return test_finish();
}
