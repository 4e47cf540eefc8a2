/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames of OFDM symbols in a stream, made in double precision by the definition: points and bits are those that were
 * sent, through channels and carrier offsets of their own; the same bits whatever the chunks; symbols without frames;
 * refusals, and allocations that fail.
 */
#include "core/base/memory.h"
#include "test.h"

#include <penstock/penstock.h>

#define PI       3.14159265358979323846
#define N        64
#define GUARD    16
#define STEP     (N + GUARD)
#define FRAMES   9
#define CARRIERS 48
#define PILOTS   4
#define ROWS     7
#define TOTAL    40000

struct frame {
    uint64_t start;
    size_t symbols;
    double cfo;
};

static int32_t carriers[CARRIERS], pilots[PILOTS] = {-21, -7, 7, 21};
static penstock_cf32 pilot_values[ROWS * PILOTS], training[N], samples[TOTAL];
static struct frame frames[FRAMES];
static penstock_cf32 sent[TOTAL], got[TOTAL], good[TOTAL]; /* points of all frames */
static int8_t soft[2 * TOTAL];
static size_t sent_count;

static penstock_ofdm_stream_desc desc_of(bool track)
{
    return PENSTOCK_OFDM_STREAM_DESC(.n = N, .guard = GUARD, .carriers = carriers, .carrier_count = CARRIERS,
                                     .pilots = pilots, .pilot_count = PILOTS, .pilot_values = pilot_values,
                                     .pilot_rows = ROWS, .track = track, .training = training, .training_symbols = 2);
}

static penstock_cf32 sign(uint64_t *seed, double level)
{
    uint64_t bits = test_random(seed);
    return (penstock_cf32){(float)(bits & 1 ? level : -level), (float)(bits & 2 ? level : -level)};
}

/* Adds a symbol of these bins through the channel, its guard interval at `at`, the frame's phase zero at `origin`. */
static void add_symbol(const double bins[N][2], uint64_t at, uint64_t origin, double cfo)
{
    for (size_t i = 0; i < STEP; i++) {
        double re = 0, im = 0, turn = 2 * PI * cfo * (double)(at + i - origin), c = cos(turn), s = sin(turn);
        for (size_t k = 0; k < N; k++) {
            double angle = 2 * PI * (double)(k * (i + N - GUARD) % N) / N, a = cos(angle), b = sin(angle);
            re += (bins[k][0] * a - bins[k][1] * b) / N;
            im += (bins[k][0] * b + bins[k][1] * a) / N;
        }
        samples[at + i].re += (float)(re * c - im * s);
        samples[at + i].im += (float)(re * s + im * c);
    }
}

static void multiply(double to[2], const double channel[2], penstock_cf32 value)
{
    to[0] = channel[0] * value.re - channel[1] * value.im;
    to[1] = channel[0] * value.im + channel[1] * value.re;
}

static void make_frame(struct frame *frame, uint64_t *seed)
{
    double channel[N][2], bins[N][2];
    for (size_t k = 0; k < N; k++) {
        double size = 1 + 0.5 * test_uniform(seed), angle = PI * test_uniform(seed);
        channel[k][0] = size * cos(angle);
        channel[k][1] = size * sin(angle);
    }
    for (size_t i = 0; i < 2 + frame->symbols; i++) {
        memset(bins, 0, sizeof bins);
        for (size_t k = 0; k < N && i < 2; k++) /* the first one may be anything */
            multiply(bins[k], channel[k], i ? training[k] : (penstock_cf32){(float)k, 0});
        for (size_t k = 0; k < CARRIERS && i >= 2; k++) {
            sent[sent_count] = sign(seed, sqrt(0.5));
            multiply(bins[carriers[k] & 63], channel[carriers[k] & 63], sent[sent_count++]);
        }
        for (size_t k = 0; k < PILOTS && i >= 2; k++)
            multiply(bins[pilots[k] & 63], channel[pilots[k] & 63], pilot_values[(i - 2) % ROWS * PILOTS + k]);
        add_symbol((const double(*)[2])bins, frame->start + i * STEP, frame->start, frame->cfo);
    }
}

static void make_stream(void)
{
    uint64_t seed = 6, at = 100;
    size_t count = 0;
    for (int32_t k = -26; k <= 26; k++)
        if (k && k % 14 != 7 && k % 14 != -7)
            carriers[count++] = k;
    for (size_t i = 0; i < ROWS * PILOTS; i++)
        pilot_values[i] = sign(&seed, 0.9);
    for (int k = -26; k <= 26; k++)
        if (k)
            training[k & 63] = sign(&seed, 1.1);
    for (size_t f = 0; f < FRAMES; f++) {
        frames[f] = (struct frame){at, 1 + (size_t)(test_random(&seed) % 30), 0.4 * test_uniform(&seed)};
        make_frame(&frames[f], &seed);
        at += (2 + frames[f].symbols) * STEP + (f % 3 ? test_random(&seed) % 300 : 0);
    }
    CHECK(at < TOTAL, "the stream is too short: %llu", (unsigned long long)at);
}

/* All frames, pushed in chunks of up to `most`; their points in `got`. Announced early, or just in time. */
static int run(penstock_stream *stream, size_t most, bool early, uint64_t seed)
{
    penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
    size_t announced = 0, pulled = 0, points = 0;
    int status = PENSTOCK_OK;
    for (size_t at = 0; at < TOTAL && status >= 0;) {
        size_t chunk = (size_t)(test_random(&seed) % most) + 1;
        chunk = chunk < TOTAL - at ? chunk : TOTAL - at;
        while (announced < FRAMES && (early || frames[announced].start < at + chunk)) {
            const struct frame *frame = &frames[announced++];
            if ((status = penstock_ofdm_stream_frame(stream, frame->start, frame->symbols, frame->cfo)))
                return status;
        }
        if ((status = penstock_stream_push(stream, samples + at, chunk, NULL)))
            return status;
        at += chunk;
        while ((status = penstock_ofdm_stream_pull(stream, &result)) == 1) {
            CHECK_EQ(result.sample, frames[pulled].start);
            CHECK_EQ(result.symbols, frames[pulled++].symbols);
            memcpy(got + points, result.points, result.symbols * CARRIERS * sizeof *got);
            memcpy(soft + 2 * points, result.soft, result.symbols * CARRIERS * 2);
            points += result.symbols * CARRIERS;
        }
    }
    CHECK(status || (pulled == FRAMES && points == sent_count), "%zu frames, %zu points", pulled, points);
    return status;
}

static void check_points(const char *what)
{
    double worst = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < sent_count; i++) {
        worst = fmax(worst, hypot((double)got[i].re - (double)sent[i].re, (double)got[i].im - (double)sent[i].im));
        wrong += (soft[2 * i] < 0) != (sent[i].re > 0) || (soft[2 * i + 1] < 0) != (sent[i].im > 0);
    }
    CHECK(worst < 1e-5, "%s: a point is off by %g", what, worst); /* float32 samples: 1e-7 by 64 bins and channels */
    CHECK(!wrong, "%s: %zu soft bits are wrong", what, wrong);
}

static void check_frames(penstock_context *context, const char *device)
{
    static const size_t most[] = {TOTAL, 1, 79, 1000, 9000};
    for (int track = 0; track < 2; track++) {
        penstock_ofdm_stream_desc desc = desc_of(track);
        penstock_ofdm_stream_counters counters = PENSTOCK_OFDM_STREAM_COUNTERS;
        penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
        penstock_stream *stream = NULL;
        CHECK_OK(penstock_ofdm_stream_open(&stream, context, &desc, device));
        for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
            CHECK_OK(run(stream, most[i], i % 2, i));
            check_points(track ? "tracked" : "as it is");
            if (i)
                CHECK(!memcmp(got, good, sent_count * sizeof *got), "chunks of up to %zu give other bits", most[i]);
            memcpy(good, got, sizeof good);
            CHECK_OK(penstock_ofdm_stream_get_counters(stream, &counters));
            CHECK_EQ(counters.samples, TOTAL);
            CHECK_EQ(counters.frames, FRAMES);
            CHECK_EQ(counters.symbols * CARRIERS, sent_count);
            CHECK_EQ(counters.waiting + counters.fallbacks, 0);
            CHECK_OK(penstock_stream_get_stats(stream, &stats));
            CHECK(stats.in == TOTAL && stats.out == counters.symbols && !stats.drops && !stats.fallbacks,
                  "%d in, %d out", (int)stats.in, (int)stats.out);
            CHECK(stats.queue < TOTAL && stats.batch >= 1 && !(stats.kernel_s <= 0) && stats.latency_p50_s > 0 &&
                      stats.latency_p99_s >= stats.latency_p50_s && stats.in_rate_hz > 0 && stats.out_rate_hz > 0,
                  "queue %d, batch %g, kernel %g s, latency %g and %g s", (int)stats.queue, stats.batch, stats.kernel_s,
                  stats.latency_p50_s, stats.latency_p99_s);
            CHECK_OK(penstock_stream_reset(stream));
        }
        penstock_stream_free(stream);
    }
}

/* Every carrier of every symbol against the sum that defines it. */
static void check_continuous(penstock_context *context)
{
    penstock_ofdm_stream_desc desc = PENSTOCK_OFDM_STREAM_DESC(.n = N, .guard = GUARD, .carriers = carriers,
                                                               .carrier_count = CARRIERS, .continuous = true);
    penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
    penstock_stream *stream = NULL;
    uint64_t seed = 3;
    size_t symbols = 0;
    double worst = 0;
    CHECK_OK(penstock_ofdm_stream_open(&stream, context, &desc, "cpu"));
    for (size_t at = 0; at < 8050;) {
        size_t chunk = (size_t)(test_random(&seed) % 500) + 1;
        chunk = chunk < 8050 - at ? chunk : 8050 - at;
        CHECK_OK(penstock_stream_push(stream, samples + at, chunk, NULL));
        at += chunk;
        while (penstock_ofdm_stream_pull(stream, &result) == 1) {
            CHECK_EQ(result.sample, symbols * STEP);
            for (size_t i = 0; i < result.symbols * CARRIERS; i++) {
                const penstock_cf32 *x = samples + (symbols + i / CARRIERS) * STEP + GUARD;
                double re = 0, im = 0;
                for (size_t j = 0; j < N; j++) {
                    double angle = -2 * PI * (double)(carriers[i % CARRIERS] * (int)j) / N;
                    re += x[j].re * cos(angle) - x[j].im * sin(angle);
                    im += x[j].re * sin(angle) + x[j].im * cos(angle);
                }
                worst = fmax(worst, hypot(result.points[i].re - re, result.points[i].im - im));
            }
            symbols += result.symbols;
        }
    }
    CHECK_EQ(symbols, 8050 / STEP);
    CHECK(worst < 2e-5, "a carrier is off by %g", worst);
    CHECK_EQ(penstock_ofdm_stream_frame(stream, 9000, 1, 0), PENSTOCK_ERR_STATE);
    penstock_stream_free(stream);
}

static void check_refusals(penstock_context *context)
{
    static const penstock_cf32 nothing[N];
    penstock_ofdm_stream_desc bad[6];
    penstock_stream *stream = NULL;
    for (size_t i = 0; i < 6; i++)
        bad[i] = desc_of(true);
    bad[0].n = 1;
    bad[1].training = nothing;
    bad[2].training_symbols = 0;
    bad[3].continuous = true;
    bad[4].carrier_count = 0;
    bad[5].constellation = (penstock_constellation)3;
    for (size_t i = 0; i < 6; i++) {
        CHECK_EQ(penstock_ofdm_stream_open(&stream, context, &bad[i], "cpu"), PENSTOCK_ERR_ARGUMENT);
        CHECK(!stream && penstock_error_text()[0], "description %zu: no text", i);
    }
    penstock_ofdm_stream_desc desc = desc_of(true);
    CHECK_EQ(penstock_ofdm_stream_open(&stream, context, &desc, "no such device"), PENSTOCK_ERR_NO_DEVICE);
    CHECK_OK(penstock_ofdm_stream_open(&stream, context, &desc, "cpu"));
    CHECK_EQ(penstock_ofdm_stream_frame(stream, 10, 0, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ofdm_stream_frame(stream, 10, 65537, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ofdm_stream_frame(stream, 10, 1, NAN), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ofdm_stream_frame(stream, UINT64_MAX - 100, 3, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_ofdm_stream_frame(stream, 10, 1, 0));
    CHECK_EQ(penstock_ofdm_stream_frame(stream, 9, 1, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_push(stream, NULL, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ofdm_stream_pull(NULL, NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(stream);
    penstock_stream_free(NULL);
}

/* Allocation k fails, for every k; nothing leaks, and a reset makes the stream good again. */
static void sweep_allocations(void)
{
    long live = penstock__memory_live(), k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    for (; status && k < 1000; k++) {
        penstock_context *context = NULL;
        penstock_stream *stream = NULL;
        penstock_ofdm_stream_desc desc = desc_of(true);
        penstock__memory_fail_at(k);
        if (!(status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""))) &&
            !(status = penstock_ofdm_stream_open(&stream, context, &desc, "cpu")))
            status = run(stream, 5000, false, 1);
        penstock__memory_fail_at(-1);
        if (stream) {
            CHECK_OK(penstock_stream_reset(stream));
            CHECK_OK(run(stream, 5000, false, 1));
            check_points("after a failed allocation");
        }
        penstock_stream_free(stream);
        penstock_context_free(context);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(!status && k > 15, "%ld allocations were failed, the last run gave %d", k, status);
    printf("%ld allocations\n", k);
}

int main(void)
{
    penstock_context *context = NULL;
    make_stream();
    CHECK_OK(penstock_context_new(&context, NULL));
    check_frames(context, "cpu");
    if (!penstock_device_find(context, "reference", &(size_t){0})) /* a build without liquid-dsp has none */
        check_frames(context, "reference");
    check_continuous(context);
    check_refusals(context);
    penstock_context_free(context);
    sweep_allocations();
    return test_finish();
}
