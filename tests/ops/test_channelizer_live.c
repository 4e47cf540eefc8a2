/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Changes of a filter bank while it runs: fewer, as many and more taps at the frame that was told, each frame made by
 * one set of taps alone, at any chunks; the same taps, which change no bit; other channels; latency; stats; failures.
 */
#include "core/base/memory.h"
#include "filter_direct.h"
#include "ops/channelizer/channelizer_stream.h"

#define SAMPLES  12000
#define CHANNELS 12
#define HOP      5
#define ADVANCE  4
#define ORIGIN   6
#define SETS     5
#define FRAMES   ((SAMPLES + HOP - 1) / HOP)
#define MOST     700

static penstock_cf32 samples[SAMPLES], frames[(FRAMES + 1) * CHANNELS], again[(FRAMES + 1) * CHANNELS];
static const size_t counts[SETS] = {60, 20, 60, MOST, 5};
static float taps[SETS][MOST];
static int cases;

static penstock_stream *make(penstock_context *context, const char *device, double max_latency_s)
{
    penstock_stream *channelizer = NULL;
    CHECK_OK(penstock_channelizer_open(&channelizer, context,
                                       &PENSTOCK_CHANNELIZER_DESC(.channels = CHANNELS, .hop = HOP, .taps = taps[0],
                                                                  .tap_count = counts[0], .advance = ADVANCE,
                                                                  .origin = ORIGIN, .max_latency_s = max_latency_s),
                                       device));
    return channelizer;
}

/* Frames that are there, at most `most` at a time. */
static void take(penstock_stream *channelizer, penstock_cf32 *to, size_t most, size_t *made)
{
    size_t pulled = 1;
    while (pulled) {
        size_t room = FRAMES + 1 - *made;
        CHECK_OK(penstock_stream_pull(channelizer, to + *made * CHANNELS, most < room ? most : room, false, &pulled));
        *made += pulled;
    }
}

/* Samples `from` .. `to` - 1, and the stream's end behind the last one. */
static void pass(penstock_stream *channelizer, size_t from, size_t to, penstock_cf32 *out, size_t most, uint64_t *seed,
                 size_t *made)
{
    for (size_t taken = 0; from < to; from += taken) {
        size_t chunk = (size_t)(test_random(seed) % most) + 1;
        CHECK_OK(penstock_stream_push(channelizer, samples + from, chunk < to - from ? chunk : to - from, &taken));
        if (test_random(seed) % 3 || !taken)
            take(channelizer, out, most, made);
    }
    if (to == SAMPLES) {
        CHECK_OK(penstock_stream_finish(channelizer));
        take(channelizer, out, most, made);
    }
}

/* Error of frames `first` .. `last` - 1, every seventh, if they were made by one set of taps. */
static double error_of(const penstock_cf32 *got, size_t first, size_t last, int set)
{
    penstock_filter_desc filter = PENSTOCK_FILTER_DESC(.real_taps = taps[set], .tap_count = counts[set]);
    double difference = 0, power = 1e-30;
    for (size_t m = first; m < last; m += m + 1 < last && m + 8 > last ? last - 1 - m : 7) /* the last one too */
        for (size_t k = 0; k < CHANNELS; k++) {
            double y[2];
            filter.shift = -(double)k / CHANNELS;
            direct_value(y, samples, SAMPLES, &filter, m * HOP + ADVANCE);
            double angle = 2 * TEST_PI * filter.shift * ORIGIN, c = cos(angle), s = sin(angle);
            double re = y[0] * c - y[1] * s - (double)got[m * CHANNELS + k].re;
            double im = y[0] * s + y[1] * c - (double)got[m * CHANNELS + k].im;
            difference += re * re + im * im;
            power += y[0] * y[0] + y[1] * y[1];
        }
    return sqrt(difference / power);
}

static void check_sets(const penstock_cf32 *got, const uint64_t *from, const char *what)
{
    for (int set = 0; set < SETS; set++) {
        size_t first = set ? (size_t)(from[set] - ADVANCE) / HOP : 0;
        size_t last = set + 1 < SETS ? (size_t)(from[set + 1] - ADVANCE) / HOP : FRAMES;
        double error = error_of(got, first, last, set), bound = 1e-7 * (sqrt(log2(CHANNELS)) + sqrt(MOST / 12.0) / 4);
        CHECK(error <= bound, "%s, set %d, frames %zu .. %zu: error %.3g, bound %.3g", what, set, first, last, error,
              bound);
        cases++;
    }
}

/* Told before the stream begins: the frame is the one that was asked for, and no chunk changes a bit. */
static void change_ahead(penstock_context *context, const char *device)
{
    static const size_t most[] = {1, 7, 333, SAMPLES};
    for (size_t i = 0; i < 4; i++) {
        penstock_stream *channelizer = make(context, device, 0);
        uint64_t from[SETS] = {0}, seed = i;
        size_t made = 0;
        for (int set = 1; set < SETS; set++) {
            uint64_t at = (uint64_t)set * 2000 + 3;
            CHECK_OK(penstock_channelizer_set_taps(channelizer, taps[set], counts[set], at, &from[set]));
            CHECK(from[set] >= at && from[set] < at + HOP && (from[set] - ADVANCE) % HOP == 0, "from %d, not %d",
                  (int)from[set], (int)at);
        }
        pass(channelizer, 0, SAMPLES, i ? again : frames, most[i], &seed, &made);
        CHECK_EQ(made, FRAMES);
        CHECK(!i || !memcmp(frames, again, FRAMES * CHANNELS * sizeof *frames), "other bits in chunks up to %zu",
              most[i]);
        if (!i)
            check_sets(frames, from, device);
        penstock_stream_free(channelizer);
    }
}

/* As soon as possible in mid-stream, more taps than ever too. */
static void change_at_once(penstock_context *context, const char *device)
{
    penstock_stream *channelizer = make(context, device, 0);
    uint64_t from[SETS] = {0}, seed = 5;
    size_t made = 0, at = 0;
    for (int set = 1; set < SETS; set++) {
        size_t next = (size_t)set * 2000;
        pass(channelizer, at, next, frames, 100, &seed, &made);
        at = next;
        CHECK_OK(penstock_channelizer_set_taps(channelizer, taps[set], counts[set], 0, &from[set]));
        CHECK(from[set] >= next && from[set] < next + MOST + HOP, "from %d, not %zu", (int)from[set], next);
        CHECK(counts[set] > 60 || from[set] < next + HOP, "from %d, not %zu", (int)from[set], next);
    }
    pass(channelizer, at, SAMPLES, frames, 100, &seed, &made);
    CHECK_EQ(made, FRAMES);
    check_sets(frames, from, device);
    penstock_stream_free(channelizer);
}

static void same_taps_change_nothing(penstock_context *context, const char *device)
{
    penstock_stream *channelizer = make(context, device, 0);
    uint64_t seed = 6;
    size_t made = 0;
    pass(channelizer, 0, SAMPLES, frames, 400, &seed, &made);
    CHECK_OK(penstock_stream_reset(channelizer));
    made = 0;
    for (size_t at = 0; at < SAMPLES; at += 1000) {
        CHECK_OK(penstock_channelizer_set_taps(channelizer, taps[0], counts[0], at + 77, NULL));
        pass(channelizer, at, at + 1000, again, 400, &seed, &made);
    }
    CHECK_EQ(made, FRAMES);
    CHECK(!memcmp(frames, again, FRAMES * CHANNELS * sizeof *frames), "%s: other bits", device);
    penstock_stream_free(channelizer);
    cases++;
}

/* A reset forgets what waits to change but for the last taps. */
static void reset_keeps_the_last(penstock_context *context)
{
    penstock_stream *channelizer = make(context, "cpu", 0);
    penstock_channelizer_info info = PENSTOCK_CHANNELIZER_INFO;
    uint64_t seed = 7;
    size_t made = 0;
    pass(channelizer, 0, 500, frames, 100, &seed, &made);
    CHECK_OK(penstock_channelizer_set_taps(channelizer, taps[1], counts[1], 5000, NULL));
    CHECK_OK(penstock_channelizer_set_taps(channelizer, taps[3], counts[3], 9000, NULL));
    CHECK_OK(penstock_stream_reset(channelizer));
    CHECK_OK(penstock_channelizer_get_info(channelizer, &info));
    CHECK_EQ(info.tap_count, counts[3]);
    made = 0;
    pass(channelizer, 0, SAMPLES, frames, 100, &seed, &made);
    CHECK_EQ(made, FRAMES);
    CHECK(error_of(frames, 0, FRAMES, 3) < 1e-6, "error %g", error_of(frames, 0, FRAMES, 3));
    penstock_stream_free(channelizer);
}

static void other_channels(penstock_context *context)
{
    static const size_t some[] = {7, 0, 11}, twice[] = {3, 3};
    penstock_stream *channelizer = make(context, "cpu", 0);
    uint64_t seed = 8;
    size_t made = 0, wrong = 0, pulled = 0;
    pass(channelizer, 0, SAMPLES, frames, 100, &seed, &made);
    CHECK_OK(penstock_stream_reset(channelizer));
    CHECK_OK(penstock_stream_push(channelizer, samples, 1000, &(size_t){0}));
    CHECK_OK(penstock_stream_pull(channelizer, again, 10, true, &pulled));
    CHECK_OK(penstock_channelizer_set_select(channelizer, some, 3));
    CHECK_EQ(penstock_channelizer_set_select(channelizer, twice, 2), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_stream_pull(channelizer, again, 10, true, &pulled));
    CHECK_EQ(pulled, 10);
    for (size_t m = 0; m < 10; m++)
        for (size_t c = 0; c < 3; c++)
            wrong += !!memcmp(&again[m * 3 + c], &frames[(m + 10) * CHANNELS + some[c]], sizeof *again);
    CHECK_OK(penstock_channelizer_set_select(channelizer, NULL, 0));
    CHECK_OK(penstock_stream_pull(channelizer, again, 10, true, &pulled));
    wrong += !!memcmp(again, frames + 20 * CHANNELS, 10 * CHANNELS * sizeof *again);
    CHECK_EQ(wrong, 0);
    penstock_stream_free(channelizer);
}

/* ---------------------------------------------------------------- handover -------------------- */

#define LATE    "trace"
#define GUARD_S 120

/* What comes late: an engine, so that the test decides when. */
struct late {
    struct channelizer_engine shape;
    int failure; /* instead */
};

static int make_late(void **made, void *owner, const char *device)
{
    const struct late *what = owner;
    struct channelizer_engine *engine;
    (void)device;
    if (what->failure)
        return penstock__error(what->failure, "as the test wants it");
    engine = penstock__calloc(1, sizeof *engine);
    engine->context = what->shape.context;
    engine->bank = what->shape.bank;
    *made = engine;
    return penstock__channelizer_engine_init(engine, 0, "prefer:" LATE);
}

static void free_late(void *engine)
{
    penstock__channelizer_engine_free(engine);
    penstock__free(engine);
}

static void send_late(penstock_stream *channelizer, struct late *what, int failure)
{
    static const struct penstock__maker maker = {.make = make_late, .free = free_late};
    *what = (struct late){.shape = channelizer_of(channelizer)->engine, .failure = failure};
    CHECK_OK(penstock__async_build_new(&channelizer_of(channelizer)->build, &maker, what, "prefer:" LATE, 0));
    CHECK(penstock__async_build_done(channelizer_of(channelizer)->build, GUARD_S), "nothing came within %d s", GUARD_S);
}

static bool is_on(const penstock_stream *channelizer, const char *device)
{
    penstock_channelizer_info info = PENSTOCK_CHANNELIZER_INFO;
    CHECK_OK(penstock_channelizer_get_info(channelizer, &info));
    return !strcmp(info.device, device);
}

/* At sample `at`, with changes before, around and after; all pulled by then, or nothing. */
static void goes_over(penstock_context *context, size_t at, size_t most, bool pulled)
{
    penstock_stream *channelizer = make(context, "cpu", 0);
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    uint64_t from[SETS] = {0}, seed = at + most;
    size_t made = 0, taken = 0;
    struct late late;
    for (int set = 1; set < SETS; set++)
        CHECK_OK(
            penstock_channelizer_set_taps(channelizer, taps[set], counts[set], (uint64_t)set * 2000 + 3, &from[set]));
    if (pulled)
        pass(channelizer, 0, at, frames, most, &seed, &made);
    else
        CHECK_OK(penstock_stream_push(channelizer, samples, at, &taken));
    CHECK(pulled || taken == at, "%zu of %zu samples were taken", taken, at);
    send_late(channelizer, &late, 0);
    pass(channelizer, at, SAMPLES, frames, most, &seed, &made);
    CHECK_EQ(made, FRAMES);
    CHECK(is_on(channelizer, LATE) && !channelizer_of(channelizer)->build, "at %zu: it ends on another device", at);
    check_sets(frames, from, "goes over");
    CHECK_OK(penstock_stream_get_stats(channelizer, &stats));
    CHECK(stats.in == SAMPLES && stats.out == FRAMES && !stats.queue && !stats.cpu_while_compiling && !stats.fallbacks,
          "%d in, %d out, %d wait", (int)stats.in, (int)stats.out, (int)stats.queue);
    penstock_stream_free(channelizer);
}

/* Memory that is full when the device comes, and a stream that has ended by then. */
static void goes_over_late(penstock_context *context)
{
    penstock_stream *channelizer = make(context, "cpu", 0);
    size_t made = 0, taken = 1, rounds = 0;
    struct late late;
    while (taken && rounds++ < 1000)
        CHECK_OK(penstock_stream_push(channelizer, samples, SAMPLES, &taken));
    CHECK(!taken, "there is always room");
    send_late(channelizer, &late, 0);
    for (rounds = 0; made < 200000 && rounds < 100000; rounds++) {
        size_t pulled;
        CHECK_OK(penstock_stream_push(channelizer, samples, SAMPLES, &taken));
        CHECK_OK(penstock_stream_pull(channelizer, again, FRAMES, true, &pulled));
        made += pulled;
    }
    CHECK(made >= 200000 && is_on(channelizer, LATE), "it stands still after %zu frames", made);
    penstock_stream_free(channelizer);
    channelizer = make(context, "cpu", 0);
    CHECK_OK(penstock_stream_push(channelizer, samples, SAMPLES, &taken));
    CHECK_OK(penstock_stream_finish(channelizer));
    send_late(channelizer, &late, 0);
    take(channelizer, frames, 100, &(size_t){made = 0});
    CHECK(is_on(channelizer, LATE) && error_of(frames, 0, FRAMES, 0) < 1e-6, "after the end: error %g",
          error_of(frames, 0, FRAMES, 0));
    penstock_stream_free(channelizer);
}

/* The CPU goes on with its bits; or nobody ever takes what has come. */
static void late_fails(penstock_context *context)
{
    penstock_stream *channelizer = make(context, "cpu", 0);
    uint64_t seed = 3;
    size_t made = 0;
    struct late late;
    pass(channelizer, 0, SAMPLES, frames, 500, &seed, &made);
    CHECK_OK(penstock_stream_reset(channelizer));
    pass(channelizer, 0, 5000, again, 500, &seed, &(size_t){made = 0});
    CHECK_OK(penstock_stream_reset(channelizer));
    made = 0;
    pass(channelizer, 0, 5000, again, 500, &seed, &made);
    send_late(channelizer, &late, PENSTOCK_ERR_DEVICE);
    pass(channelizer, 5000, SAMPLES, again, 500, &seed, &made);
    CHECK(made == FRAMES && is_on(channelizer, "cpu") && !channelizer_of(channelizer)->build,
          "a late device that fails is used");
    CHECK(!memcmp(frames, again, FRAMES * CHANNELS * sizeof *frames), "the CPU's bits changed");
    CHECK_OK(penstock_stream_reset(channelizer));
    send_late(channelizer, &late, 0);
    penstock_stream_free(channelizer);
    cases++;
}

static void another_device(penstock_context *context)
{
    for (size_t at = 0; at < SAMPLES; at += 601) {
        goes_over(context, at, 1 + at % 700, true);
        goes_over(context, at, 333, false);
    }
    goes_over_late(context);
    late_fails(context);
}

static void tell_stats(penstock_context *context, const char *device)
{
    penstock_stream *channelizer = make(context, device, 0);
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    uint64_t seed = 9;
    size_t made = 0;
    CHECK_OK(penstock_stream_push(channelizer, samples, 3, &(size_t){0}));
    CHECK_OK(penstock_stream_get_stats(channelizer, &stats));
    CHECK(stats.in == 3 && stats.out == 0 && stats.queue == 3, "%d in, %d out, %d wait", (int)stats.in, (int)stats.out,
          (int)stats.queue);
    pass(channelizer, 3, SAMPLES, frames, 1000, &seed, &made);
    CHECK_OK(penstock_stream_get_stats(channelizer, &stats));
    CHECK(stats.in == SAMPLES && stats.out == FRAMES && stats.queue == 0 && stats.drops == 0 && stats.fallbacks == 0,
          "%d in, %d out, %d wait", (int)stats.in, (int)stats.out, (int)stats.queue);
    CHECK(stats.batch > 0 && stats.batch <= FRAMES && !(stats.kernel_s <= 0) && stats.latency_p50_s > 0 &&
              stats.latency_p99_s >= stats.latency_p50_s && stats.in_rate_hz > 0 && stats.out_rate_hz > 0,
          "batch %g, kernel %g s, latency %g and %g s", stats.batch, stats.kernel_s, stats.latency_p50_s,
          stats.latency_p99_s);
    CHECK_OK(penstock_stream_set_max_latency(channelizer, 1));
    CHECK_EQ(penstock_stream_set_max_latency(channelizer, -1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_get_stats(NULL, &stats), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channelizer_set_taps(NULL, taps[0], 9, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channelizer_set_taps(channelizer, taps[0], ADVANCE, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channelizer_set_select(NULL, NULL, 0), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(channelizer);
}

/* Where allocation k of a change fails, nothing changes. */
static void sweep_allocations(penstock_context *context)
{
    static const size_t some[] = {1, 2};
    long live = penstock__memory_live(), k = 0, failed = 1;
    for (; failed && k < 100; k++) {
        penstock_stream *channelizer = make(context, "cpu", 0);
        uint64_t seed = 10;
        size_t made = 0;
        pass(channelizer, 0, 2000, frames, 500, &seed, &made);
        penstock__memory_fail_at(k);
        failed = penstock_channelizer_set_taps(channelizer, taps[3], counts[3], 0, NULL) != 0;
        if (!failed)
            failed = penstock_channelizer_set_select(channelizer, some, 2) != 0;
        penstock__memory_fail_at(-1);
        CHECK_OK(penstock_channelizer_set_select(channelizer, NULL, 0));
        pass(channelizer, 2000, SAMPLES, frames, 500, &seed, &made);
        CHECK_EQ(made, FRAMES);
        penstock_stream_free(channelizer);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(!failed && k > 4, "%ld allocations were failed", k);
}

int main(void)
{
    penstock_context *context = NULL;
    uint64_t seed = 1;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (int set = 0; set < SETS; set++)
        for (size_t k = 0; k < counts[set]; k++)
            taps[set][k] = (float)test_uniform(&seed);
    for (int traced = 0; traced < 2; traced++) {
        const char *device = traced ? "trace" : "cpu";
        change_ahead(context, device);
        change_at_once(context, device);
        same_taps_change_nothing(context, device);
        tell_stats(context, device);
    }
    reset_keeps_the_last(context);
    other_channels(context);
    another_device(context);
    sweep_allocations(context);
    CHECK_EQ(cases, 2 * (SETS + SETS + 1) + 2 * 20 * SETS + 1);
    penstock_context_free(context);
    printf("%d cases\n", cases);
    return test_finish();
}
