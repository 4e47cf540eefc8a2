/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The filter as a stream: the same bits whatever the chunks; changes of taps at a given sample, which with the same
 * taps change nothing; NaN and infinity; reset; latency; refusals; and what happens when allocation k or device call k
 * fails, for every k.
 */
#include "failure_sweep.h"
#include "filter_direct.h"

#define SAMPLES 40000
#define TAPS    65
#define LENGTH  256

static penstock_cf32 samples[SAMPLES], taps[TAPS], other_taps[TAPS];
static penstock_cf32 good[2 * SAMPLES], got[2 * SAMPLES], other[2 * SAMPLES];
static penstock_cf32 good_here[2 * SAMPLES]; /* the CPU's */
static const penstock_filter_desc desc = {.size = sizeof(penstock_filter_desc),
                                          .taps = taps,
                                          .tap_count = TAPS,
                                          .n = LENGTH,
                                          .tail = true,
                                          .max_latency = 2000};

static size_t expected(void)
{
    return SAMPLES + TAPS - 1;
}

/* The whole stream; values in `*made` even where it fails. */
static int run(penstock_stream *filter, penstock_cf32 *to, size_t most, uint64_t seed, size_t *made)
{
    *made = 0;
    int status =
        stream_push(filter, (const char *)samples, sizeof *samples, SAMPLES, most, (char *)to, sizeof *to, made, &seed);
    return status ? status : stream_end(filter, (char *)to, sizeof *to, made);
}

static bool same(const penstock_cf32 *a, const penstock_cf32 *b, size_t count)
{
    return !memcmp(a, b, count * sizeof *a);
}

static void check_good(const char *what, long k, size_t made)
{
    CHECK(made == expected(), "%s %ld: %zu values, expected %zu", what, k, made, expected());
    CHECK(same(got, good, expected()), "%s %ld: other values", what, k);
}

/* What is expected from now on: the last bits are each device's own. */
static void make_good(penstock_context *context, const char *device)
{
    penstock_stream *filter = NULL;
    uint64_t seed = 1;
    size_t made;
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t k = 0; k < TAPS; k++) {
        taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        other_taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    }
    CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
    CHECK_OK(run(filter, good, SAMPLES, 1, &made));
    CHECK_EQ(made, expected());
    penstock_stream_free(filter);
}

/* One filter for all, so that reset is tested too; and the library's own choice of latency and thus of batches. */
static void check_chunks(penstock_context *context)
{
    static const size_t most[] = {1, 7, 64, 255, 256, 257, 1000, 30000};
    penstock_filter_desc large = desc;
    penstock_stream *filter = NULL;
    size_t made;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, "cpu"));
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        CHECK_OK(run(filter, got, most[i], i, &made));
        check_good("chunks of up to", (long)most[i], made);
        CHECK_EQ(penstock_stream_push(filter, samples, 1, &made), PENSTOCK_ERR_STATE);
        CHECK_OK(penstock_stream_reset(filter));
    }
    penstock_stream_free(filter);
    large.max_latency = 0;
    CHECK_OK(penstock_filter_open(&filter, context, &large, "cpu"));
    CHECK_OK(run(filter, got, 5000, 3, &made));
    check_good("large batches", 0, made);
    penstock_stream_free(filter);
}

/* ---------------------------------------------------------------- taps ------------------------ */

/* Pushes up to `at`, where taps change; the change is asked for `early` samples before. */
static size_t run_changed(penstock_stream *filter, const penstock_cf32 *new_taps, uint64_t at, uint64_t early,
                          penstock_cf32 *to)
{
    uint64_t seed = at;
    size_t made = 0, first = (size_t)(at - early);
    CHECK_OK(penstock_stream_reset(filter));
    CHECK_OK(
        stream_push(filter, (const char *)samples, sizeof *samples, first, 999, (char *)to, sizeof *to, &made, &seed));
    CHECK_OK(penstock_filter_set_taps(filter, new_taps, NULL, TAPS, at));
    CHECK_OK(stream_push(filter, (const char *)(samples + first), sizeof *samples, SAMPLES - first, 999, (char *)to,
                         sizeof *to, &made, &seed));
    CHECK_OK(stream_end(filter, (char *)to, sizeof *to, &made));
    CHECK_EQ(made, expected());
    return (size_t)at;
}

static void check_changes(penstock_context *context)
{
    penstock_stream *filter = NULL;
    uint64_t seed = 5;
    size_t made;
    penstock_filter_desc with_other = desc;
    with_other.taps = other_taps;
    CHECK_OK(penstock_filter_open(&filter, context, &with_other, "cpu"));
    CHECK_OK(run(filter, other, SAMPLES, 1, &made));
    penstock_stream_free(filter);
    CHECK_OK(penstock_filter_open(&filter, context, &desc, "cpu"));
    for (int i = 0; i < 40; i++) {
        uint64_t at = test_random(&seed) % 30000 + (i < 20 ? 0 : 5), early = i < 20 ? 0 : test_random(&seed) % 5;
        if (i % 8 == 0)
            at = at / 192 * 192 + early; /* blocks are 192 samples: at the edge of one */
        CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, TAPS, UINT64_MAX));
        run_changed(filter, taps, at, early, got);
        check_good("the same taps at", (long)at, expected());
        run_changed(filter, other_taps, at, early, got);
        CHECK(same(got, good, (size_t)at), "values before the change at %llu are not the old ones",
              (unsigned long long)at);
        CHECK(same(got + at, other + at, expected() - (size_t)at),
              "values after the change at %llu are not the new ones", (unsigned long long)at);
    }
    penstock_stream_free(filter);
}

/* Three changes within one block. */
static void check_crowded_changes(penstock_context *context)
{
    penstock_stream *filter = NULL;
    size_t made;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, "cpu"));
    CHECK_OK(penstock_filter_set_taps(filter, other_taps, NULL, TAPS, 1000));
    CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, TAPS, 1010));
    CHECK_OK(penstock_filter_set_taps(filter, other_taps, NULL, TAPS, 1013));
    CHECK_OK(run(filter, got, 777, 1, &made));
    for (size_t i = 0; i < expected(); i++) {
        const penstock_cf32 *from = i < 1000 || (i >= 1010 && i < 1013) ? good : other;
        CHECK(same(got + i, from + i, 1), "value %zu is of the wrong taps", i);
    }
    CHECK_EQ(penstock_filter_set_taps(filter, taps, NULL, TAPS, SAMPLES - 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_filter_set_taps(filter, taps, NULL, TAPS + 1, SAMPLES), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_filter_set_taps(filter, NULL, NULL, 1, SAMPLES), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(filter);
}

/* ---------------------------------------------------------------- the rest -------------------- */

/* Only blocks whose transform holds the bad sample may differ. */
static void check_not_finite(penstock_context *context)
{
    static const float bad[] = {NAN, INFINITY};
    penstock_stream *filter = NULL;
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    size_t made;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, "cpu"));
    CHECK_OK(penstock_filter_get_info(filter, &info));
    for (int i = 0; i < 2; i++) {
        size_t at = 12345 + (size_t)i * 777, spoilt = 0;
        float before = samples[at].im;
        samples[at].im = bad[i];
        CHECK_OK(penstock_stream_reset(filter));
        CHECK_OK(run(filter, got, 5000, 1, &made));
        samples[at].im = before;
        for (size_t p = 0; p < expected(); p++) {
            size_t start = p / info.block * info.block; /* its frame reaches LENGTH - block back */
            bool within = at + LENGTH >= start + info.block && at < start + info.block;
            CHECK(within || same(got + p, good + p, 1), "value %zu is spoilt by sample %zu", p, at);
            spoilt += !isfinite(got[p].re);
        }
        CHECK(spoilt > 0 && spoilt <= 2 * info.block, "%zu values are spoilt", spoilt);
    }
    penstock_stream_free(filter);
}

static void check_latency(penstock_context *context)
{
    static const size_t limits[] = {2000, 700, 10000};
    for (int i = 0; i < 3; i++) {
        penstock_filter_desc d = desc;
        penstock_stream *filter = NULL;
        penstock_filter_info info = PENSTOCK_FILTER_INFO;
        size_t most = 0, made = 0, count;
        d.max_latency = limits[i];
        CHECK_OK(penstock_filter_open(&filter, context, &d, "cpu"));
        CHECK_OK(penstock_filter_get_info(filter, &info));
        CHECK(info.latency <= limits[i], "latency %zu, asked for %zu", info.latency, limits[i]);
        CHECK(info.delay == (TAPS - 1) / 2.0, "delay %g", info.delay);
        for (size_t t = 0; t < SAMPLES; t++) {
            CHECK_OK(penstock_stream_push(filter, samples + t, 1, &(size_t){0}));
            CHECK_OK(penstock_stream_pull(filter, got, SAMPLES, false, &count));
            made += count;
            most = t - made + 1 > most ? t - made + 1 : most; /* value `made` waits since sample `made` came */
        }
        CHECK_EQ(most, info.latency);
        penstock_stream_free(filter);
    }
}

/* Calls of all sizes into memory that ends where the capacity does; what lies behind it stays. */
static void check_run_bounds(penstock_context *context)
{
    penstock_stream *filter = NULL;
    uint64_t seed = 3;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, "cpu"));
    for (size_t most = 7; most < 9000; most *= 6) {
        size_t at = 0, made = 0, taken, more = 1;
        CHECK_OK(penstock_stream_reset(filter));
        for (bool finished = false; !finished || more;) {
            size_t capacity = (size_t)(test_random(&seed) % most), left = SAMPLES - at;
            size_t count = (size_t)(test_random(&seed) % most), bytes = capacity * sizeof *got;
            char *values = malloc(bytes + 64);
            memset(values, 0x5a, bytes + 64);
            CHECK_OK(penstock_stream_run(filter, samples + at, count < left ? count : left, &taken, values, capacity,
                                         &more));
            CHECK(more <= capacity && taken <= left, "%zu values of %zu", more, capacity);
            for (size_t i = bytes; i < bytes + 64; i++)
                CHECK(values[i] == 0x5a, "written %zu bytes behind the capacity", i - bytes);
            memcpy(got + made, values, more * sizeof *got);
            free(values);
            made += more;
            at += taken;
            if (at == SAMPLES && !finished) {
                CHECK_OK(penstock_stream_finish(filter));
                finished = true;
            }
            more = !capacity || more;
        }
        check_good("calls of up to", (long)most, made);
    }
    CHECK_EQ(penstock_stream_run(filter, samples, 1, &(size_t){0}, got, 1, &(size_t){0}), PENSTOCK_ERR_STATE);
    CHECK_EQ(penstock_stream_run(NULL, samples, 1, &(size_t){0}, got, 1, &(size_t){0}), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_run(filter, samples, 0, NULL, got, 1, &(size_t){0}), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(filter);
}

/* A time limit on complete blocks: long ones never pass here, and the shortest has passed at once. */
static void check_due(penstock_context *context)
{
    for (int i = 0; i < 2; i++) {
        penstock_filter_desc d = desc;
        penstock_stream *filter = NULL;
        size_t count;
        d.max_latency = 0;
        d.max_latency_s = i ? 1e-9 : 1e6;
        CHECK_OK(penstock_filter_open(&filter, context, &d, "cpu"));
        CHECK(isinf(penstock_stream_due_s(filter)), "an empty filter is due");
        CHECK_OK(penstock_stream_push(filter, samples, LENGTH / 2, &(size_t){0}));
        CHECK(isinf(penstock_stream_due_s(filter)), "part of a block is due");
        CHECK_OK(penstock_stream_push(filter, samples + LENGTH / 2, 2 * LENGTH, &(size_t){0}));
        double due = penstock_stream_due_s(filter);
        CHECK(i ? due <= 1e-9 : due > 9e5 && due <= 1e6, "due in %g s", due);
        CHECK_OK(penstock_stream_pull(filter, got, SAMPLES, false, &count));
        CHECK(i ? count > LENGTH : !count, "%zu values", count);
        CHECK_OK(penstock_stream_finish(filter));
        CHECK(penstock_stream_due_s(filter) == 0, "the end is not due");
        CHECK_OK(penstock_stream_pull(filter, got, SAMPLES, false, &count));
        CHECK(isinf(penstock_stream_due_s(filter)), "what has ended is due");
        penstock_stream_free(filter);
    }
}

static void check_refusals(penstock_context *context)
{
    static const float one = 1, nan = NAN;
    const penstock_filter_desc bad[] = {
        PENSTOCK_FILTER_DESC(.tap_count = 1),
        PENSTOCK_FILTER_DESC(.taps = taps, .real_taps = &one, .tap_count = 1),
        PENSTOCK_FILTER_DESC(.taps = taps),
        PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = (1 << 20) + 1),
        PENSTOCK_FILTER_DESC(.real_taps = &nan, .tap_count = 1),
        PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = 5, .max_taps = 4),
        PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = 5, .decimation = (1 << 20) + 1),
        PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = 5, .shift = 0.6),
        PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = 5, .shift = NAN),
        PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = 5, .advance = 5),
        PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = 5, .n = 6),
        PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = 5, .n = (1 << 23) + 1),
        PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = 5, .format = (penstock_format)9),
        {.taps = taps, .tap_count = 5},
    };
    penstock_stream *filter = NULL;
    size_t count;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(penstock_filter_open(&filter, context, &bad[i], "cpu"), PENSTOCK_ERR_ARGUMENT);
        CHECK(!filter && penstock_error_text()[0], "description %zu: no text", i);
    }
    CHECK_EQ(penstock_filter_open(&filter, context, NULL, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_filter_open(&filter, NULL, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_filter_open(&filter, context, &desc, "no such device"), PENSTOCK_ERR_NO_DEVICE);
    CHECK_OK(penstock_filter_open(&filter, context, &desc, "cpu"));
    CHECK_EQ(penstock_stream_push(filter, NULL, 1, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_push(NULL, samples, 1, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_pull(filter, NULL, 1, false, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_finish(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_reset(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_filter_set_taps(NULL, taps, NULL, 1, 0), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(filter);
    penstock_stream_free(NULL);
}

/* ---------------------------------------------------------------- failures -------------------- */

/* A device that fails before the first sample leaves it all to the CPU, with its own kind of convolution. */
static bool is_here(const penstock_stream *filter)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    return !strcmp(info.device, "cpu");
}

/* A stream with a change to the same taps; after an error the rest once more, from a reset on. */
static int use(penstock_context *context, const char *device, bool *wrong)
{
    penstock_stream *filter = NULL;
    size_t made = 0;
    int status = penstock_filter_open(&filter, context, &desc, device);
    if (status)
        return status;
    const penstock_cf32 *right = is_here(filter) ? good_here : good;
    if (!(status = penstock_filter_set_taps(filter, taps, NULL, TAPS, 20000)))
        status = run(filter, got, 9999, 1, &made);
    *wrong = made > expected() || !same(got, right, made) || (!status && made != expected());
    sweep_over();
    if (status) {
        CHECK_OK(penstock_stream_reset(filter));
        CHECK_OK(run(filter, got, 9999, 1, &made));
        check_good("after a reset on trace", status, made);
    }
    penstock_stream_free(filter);
    return status;
}

/* On the CPU itself, with its own kind of convolution. */
static void sweep_vectors(void)
{
    long live = penstock__memory_live(), k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    for (; status && k < 100; k++) {
        penstock_context *context = NULL;
        penstock_stream *filter = NULL;
        CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 1)));
        penstock__memory_fail_at(k);
        status = penstock_filter_open(&filter, context, &desc, "cpu");
        penstock__memory_fail_at(-1);
        CHECK(!status == (filter != NULL), "allocation %ld: status %d", k, status);
        penstock_stream_free(filter);
        penstock_context_free(context);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(!status && k > 10, "%ld allocations were failed, the last run gave %d", k, status);
}

/* The choice of the length survives too. */
static void sweep_choice(void)
{
    static const float low[] = {0.25f, 0.5f, 0.25f};
    long live = penstock__memory_live();
    for (long k = 0; k < 120; k += 3) {
        penstock_context *context = NULL;
        penstock_stream *filter = NULL;
        CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 1)));
        penstock__memory_fail_at(k);
        int status =
            penstock_filter_open(&filter, context, &PENSTOCK_FILTER_DESC(.real_taps = low, .tap_count = 3), "cpu");
        penstock__memory_fail_at(-1);
        CHECK(!status == (filter != NULL), "allocation %ld: status %d", k, status);
        penstock_stream_free(filter);
        penstock_context_free(context);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
}

int main(void)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    make_good(context, "cpu");
    check_chunks(context);
    check_changes(context);
    check_crowded_changes(context);
    check_not_finite(context);
    check_latency(context);
    check_run_bounds(context);
    check_due(context);
    check_refusals(context);
    memcpy(good_here, good, sizeof good);
    make_good(context, "trace");
    penstock_context_free(context);
    sweep_allocations(use, "trace", 0);
    sweep_vectors();
    sweep_choice();
    sweep_calls(use);
    return test_finish();
}
