/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A filter goes over from the CPU to a device that is ready late: after every block, with other lengths there, whatever
 * the pieces; values against their definition, and the bits of the device where it comes before the first block. With
 * changes of taps, flushes, resets and the end before and behind; and where memory or the device fails then.
 *
 * What comes late is a filter that the test makes, so that it decides when. Argument: a device.
 */
#include "backends/trace/trace.h"
#include "core/memory.h"
#include "filter_direct.h"
#include "ops/filter_stream.h"

#define SAMPLES  3000
#define TAPS     200
#define CHANNELS 2
#define GUARD_S  120
#define MORE     3 /* values for a sample at most */

static const char *kind;   /* "trace" */
static char preferred[64]; /* "prefer:trace" */
static penstock_context *context;
static unsigned warnings;
static size_t positions; /* that are tried, of blocks; 0: all */
static penstock_cf32 samples[SAMPLES], taps[TAPS], other_taps[TAPS];
static float real_taps[TAPS];
static double want[2 * MORE * SAMPLES];
static penstock_cf32 got[2 * MORE * SAMPLES], again[2 * MORE * SAMPLES];

static struct use {
    const char *name;
    penstock_filter_desc desc; /* its n is the CPU's */
    size_t n;                  /* the device's */
} uses[] = {
    {"longer", {.taps = taps, .tap_count = 20, .n = 64, .tail = true}, 128},
    {"shorter", {.taps = taps, .tap_count = 20, .n = 512, .tail = true}, 64},
    {"in parts", {.taps = taps, .tap_count = TAPS, .n = 1024, .tail = true}, 128},
    {"from parts", {.taps = taps, .tap_count = TAPS, .n = 128}, 1024},
    {"decimated", {.taps = taps, .tap_count = 31, .decimation = 6, .shift = 0.1, .phase = 0.3, .n = 96}, 256},
    {"interpolated",
     {.real_taps = real_taps, .tap_count = 40, .interpolation = 3, .decimation = 2, .advance = 7, .n = 64},
     96},
    {"real", {.format = PENSTOCK_F32, .real_taps = real_taps, .tap_count = 33, .advance = 16, .n = 128}, 256},
    {"integers",
     {.format = PENSTOCK_CS16, .taps = taps, .tap_count = 20, .shift = -0.2, .n = 64, .max_latency = 300},
     128},
};
#define USES (sizeof uses / sizeof uses[0])

static void count_lines(void *user, penstock_log_level level, const char *line)
{
    (void)user, (void)line;
    warnings += level == PENSTOCK_LOG_WARNING;
}

/* ---------------------------------------------------------------- what comes late ------------- */

static struct late {
    penstock_filter_desc desc;
    const char *device;
    int failure; /* instead */
} late;

static int make_late(void **made, void *owner, const char *device)
{
    const struct late *what = owner;
    penstock_filter *filter = NULL;
    (void)device;
    int status = what->failure ? penstock__error(what->failure, "as the test wants it")
                               : penstock_filter_new(&filter, context, &what->desc, what->device);
    *made = filter;
    return status;
}

static void free_late(void *filter)
{
    penstock_filter_free(filter);
}

/* From now on there is a device for the filter to go over to. */
static void send_late(penstock_filter *filter, const struct use *use)
{
    static const struct penstock__maker maker = {.make = make_late, .free = free_late};
    late.desc = use->desc;
    late.desc.n = use->n;
    late.device = preferred;
    CHECK_OK(penstock__arrival_new(&filter->arrival, &maker, &late, preferred));
    CHECK(penstock__arrival_done(filter->arrival, GUARD_S), "nothing came within %d s", GUARD_S);
}

/* A filter that waits for a device whose hour has not come. */
static void wait_for_late(penstock_filter *filter)
{
    late.failure = PENSTOCK_ERR_DEVICE;
    send_late(filter, &uses[0]);
    late.failure = 0;
}

/* ---------------------------------------------------------------- streams --------------------- */

static penstock_filter *new_filter(const struct use *use, const char *device)
{
    penstock_filter *filter = NULL;
    CHECK_OK(penstock_filter_new(&filter, context, &use->desc, device));
    return filter;
}

static penstock_filter_info info_of(const penstock_filter *filter)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    return info;
}

static bool is_late(const penstock_filter *filter)
{
    return !strncmp(info_of(filter).device, kind, strlen(kind));
}

static void push(penstock_filter *filter, size_t first, size_t count, size_t most, penstock_cf32 *to, size_t *made)
{
    size_t bytes = penstock_format_bytes(filter->desc.format), value_bytes = filter->shape->value_bytes;
    uint64_t seed = most + first;
    CHECK_OK(stream_push(filter, (const char *)samples + first * bytes, bytes, count, most, (char *)to, value_bytes,
                         made, &seed));
}

static void end(penstock_filter *filter, penstock_cf32 *to, size_t *made)
{
    CHECK_OK(stream_end(filter, (char *)to, filter->shape->value_bytes, made));
}

static size_t count_of(const struct use *use)
{
    size_t up = use->desc.interpolation, down = use->desc.decimation;
    size_t all = SAMPLES * (up ? up : 1) + (use->desc.tail ? use->desc.tap_count - 1 - use->desc.advance : 0);
    return down ? (all + down - 1) / down : all;
}

static void make_want(const struct use *use)
{
    size_t down = use->desc.decimation ? use->desc.decimation : 1;
    for (size_t m = 0; m < count_of(use); m++) {
        direct_value(want + 2 * m, samples, SAMPLES, &use->desc, m * down + use->desc.advance);
        double angle = 2 * TEST_PI * use->desc.phase, re = want[2 * m], im = want[2 * m + 1];
        want[2 * m] = re * cos(angle) - im * sin(angle);
        want[2 * m + 1] = re * sin(angle) + im * cos(angle);
    }
}

static void check_values(const struct use *use, const penstock_filter *filter, const penstock_cf32 *values, size_t made,
                         size_t at)
{
    bool real = filter->shape->value_bytes == sizeof(float);
    size_t worst = use->n > use->desc.n ? use->n : use->desc.n;
    double error = 0, norm = 0, most = 0;
    CHECK(made == count_of(use), "%s, at %zu: %zu values of %zu", use->name, at, made, count_of(use));
    for (size_t m = 0; m < made; m++) {
        double re = (real ? (double)((const float *)values)[m] : (double)values[m].re) - want[2 * m];
        double im = real ? 0 : (double)values[m].im - want[2 * m + 1], power = re * re + im * im;
        error += power;
        most = power > most ? power : most;
        norm += want[2 * m] * want[2 * m] + want[2 * m + 1] * want[2 * m + 1];
    }
    double bound = 2e-7 * sqrt(log2((double)worst));
    CHECK(sqrt(error / norm) <= bound, "%s, at %zu: error %g", use->name, at, sqrt(error / norm));
    CHECK(sqrt(most * (double)made / norm) <= 20 * bound, "%s, at %zu: a value is off by %g of the mean", use->name, at,
          sqrt(most * (double)made / norm)); /* one wrong value among thousands would not show above */
}

/* The device comes when `at` samples were pushed and all complete blocks were given. */
static size_t run(const struct use *use, size_t at, size_t most, penstock_cf32 *to)
{
    penstock_filter *filter = new_filter(use, "cpu");
    size_t made = 0, pulled;
    push(filter, 0, at, SAMPLES, to, &made);
    do {
        CHECK_OK(penstock_filter_pull(filter, (char *)to + made * filter->shape->value_bytes, 100, true, &pulled));
        made += pulled;
    } while (pulled);
    send_late(filter, use);
    push(filter, at, SAMPLES - at, most, to, &made);
    end(filter, to, &made);
    CHECK(at + 1500 > SAMPLES || is_late(filter), "%s, at %zu: it ends on %s", use->name, at, info_of(filter).device);
    CHECK(at + 1500 > SAMPLES || !filter->arrival, "%s, at %zu: it still waits", use->name, at);
    check_values(use, filter, to, made, at);
    penstock_filter_free(filter);
    return made;
}

/* ---------------------------------------------------------------- cases ----------------------- */

/* After each of the CPU's blocks. */
static void every_block(const struct use *use)
{
    penstock_filter *filter = new_filter(use, "cpu");
    size_t block = info_of(filter).block, step = positions ? SAMPLES / block / positions + 1 : 1, tried = 0;
    penstock_filter_free(filter);
    for (size_t at = 0; at + block < SAMPLES; at += block * step, tried++)
        run(use, at + tried % block, 1 + (at * 7 + tried) % 900, got);
    CHECK(tried > 1, "%s: %zu positions", use->name, tried);
}

/* The pieces make no difference to a bit; before the first block there is nothing but the device. */
static void same_bits(const struct use *use)
{
    static const size_t most[] = {1, 45, 300, SAMPLES};
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    for (size_t at = 0; at < SAMPLES; at += positions ? 2111 : 1111) {
        size_t made = run(use, at, 777, again);
        for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
            run(use, at, most[i], got);
            CHECK(!memcmp(got, again, made * sizeof(float)), "%s, at %zu, pieces of %zu: other bits", use->name, at,
                  most[i]);
        }
    }
    struct use there = *use;
    there.desc.n = use->n;
    penstock_filter *filter = new_filter(&there, kind);
    size_t made = 0;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    push(filter, 0, SAMPLES, 500, again, &made);
    end(filter, again, &made);
    CHECK_EQ(run(use, 0, 77, got), made);
    CHECK(!memcmp(got, again, made * info.value_bytes), "%s: other bits than the device's", use->name);
    penstock_filter_free(filter);
}

/* Other taps before the device comes, for a sample behind that, and after it has come. */
static void changes(size_t at)
{
    const struct use *use = &uses[0];
    penstock_filter *filter = new_filter(use, "cpu");
    static double first[2 * SAMPLES];
    struct use with_others = *use;
    size_t made = 0, change = at + 70;
    with_others.desc.taps = other_taps;
    make_want(&with_others);
    memcpy(first, want, sizeof first);
    make_want(use);
    memcpy(want + 2 * 300, first + 2 * 300, (change - 300) * 2 * sizeof *want); /* others in 300 .. change - 1 */
    for (size_t m = change + 500; m < change + 600; m++)
        memcpy(want + 2 * m, first + 2 * m, 2 * sizeof *want);
    wait_for_late(filter); /* taps are kept while one waits */
    CHECK_OK(penstock_filter_set_taps(filter, other_taps, NULL, 20, 300));
    CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, 20, change));
    penstock__arrival_free(filter->arrival);
    filter->arrival = NULL;
    push(filter, 0, at, SAMPLES, got, &made);
    send_late(filter, use);
    push(filter, at, change + 1 - at, 30, got, &made);
    CHECK_OK(penstock_filter_set_taps(filter, other_taps, NULL, 20, change + 500));
    CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, 20, change + 600));
    push(filter, change + 1, SAMPLES - change - 1, 200, got, &made);
    end(filter, got, &made);
    CHECK(is_late(filter), "changes: it ends on %s", info_of(filter).device);
    check_values(use, filter, got, made, at);
    penstock_filter_free(filter);
}

/* What a source that stalls gets of an incomplete block, before, while and after the device comes. */
static void flushes(void)
{
    const struct use *use = &uses[0];
    penstock_filter *filter = new_filter(use, "cpu");
    size_t made = 0, pulled, piece;
    uint64_t seed = 4;
    for (size_t at = 0; at < SAMPLES; at += piece) {
        piece = (size_t)(test_random(&seed) % 70) + 1;
        piece = piece < SAMPLES - at ? piece : SAMPLES - at;
        push(filter, at, piece, piece, got, &made);
        CHECK_OK(penstock_filter_flush(filter));
        if (at < 1000 && at + piece >= 1000)
            send_late(filter, use);
        do {
            CHECK_OK(penstock_filter_pull(filter, got + made, 33, false, &pulled));
            made += pulled;
        } while (pulled);
        CHECK_EQ(made, at + piece);
    }
    end(filter, got, &made);
    CHECK(is_late(filter), "flushes: it ends on %s", info_of(filter).device);
    check_values(use, filter, got, made, 1000);
    penstock_filter_free(filter);
}

/* Resets and the end, with a device that waits to be taken. */
static void resets(void)
{
    const struct use *use = &uses[0];
    penstock_filter *filter = new_filter(use, "cpu");
    size_t made = 0;
    push(filter, 0, 1000, 100, got, &made);
    send_late(filter, use);
    CHECK_OK(penstock_filter_finish(filter));
    CHECK_OK(stream_end(filter, (char *)got, sizeof *got, &made));
    CHECK_EQ(made, 1000 + use->desc.tap_count - 1);
    CHECK(!is_late(filter) && filter->arrival, "a device came behind the end");
    for (unsigned i = 0; i < 3; i++) {
        CHECK_OK(penstock_filter_reset(filter));
        push(filter, 0, SAMPLES, 100 + i, got, &(size_t){made = 0});
        CHECK_OK(penstock_filter_reset(filter));
        made = 0;
        push(filter, 0, SAMPLES, 300, got, &made);
        end(filter, got, &made);
        CHECK(is_late(filter), "resets: it ends on %s", info_of(filter).device);
        check_values(use, filter, got, made, i);
    }
    penstock_filter_free(filter);
    filter = new_filter(use, "cpu"); /* nobody ever takes it */
    send_late(filter, use);
    penstock_filter_free(filter);
}

static void channels(void)
{
    const penstock_filter_channel all[CHANNELS] = {{.taps = taps, .tap_count = 20, .shift = 0.1},
                                                   {.taps = other_taps, .tap_count = 20, .shift = -0.2}};
    static penstock_cf32 values[CHANNELS][SAMPLES];
    const struct use use = {"channels", PENSTOCK_FILTER_DESC(.channels = all, .channel_count = CHANNELS, .n = 64), 128};
    penstock_filter *filter = new_filter(&use, "cpu");
    size_t at = 0, made = 0, taken, pulled;
    do {
        if (at == 1400)
            send_late(filter, &use);
        CHECK_OK(penstock_filter_push(filter, samples + at, SAMPLES - at < 700 ? SAMPLES - at : 700, &taken));
        at += taken;
        if (at == SAMPLES)
            CHECK_OK(penstock_filter_finish(filter));
        do {
            void *to[CHANNELS] = {values[0] + made, values[1] + made};
            CHECK_OK(penstock_filter_pull_channels(filter, to, 333, at % 1400 == 0, &pulled));
            made += pulled;
        } while (pulled);
    } while (at < SAMPLES);
    CHECK(is_late(filter), "channels: it ends on %s", info_of(filter).device);
    for (size_t c = 0; c < CHANNELS; c++) {
        const struct use one = {
            "a channel", {.taps = all[c].taps, .tap_count = 20, .shift = all[c].shift, .n = 64}, 128};
        make_want(&one);
        check_values(&one, filter, values[c], made, c);
    }
    penstock_filter_free(filter);
}

/* ---------------------------------------------------------------- failures -------------------- */

/* One line of the log, and the CPU goes on with the bits that it would have had. */
static void fails(void)
{
    const struct use *use = &uses[0];
    penstock_filter *filter = new_filter(use, "cpu");
    size_t made = 0;
    push(filter, 0, SAMPLES, 500, again, &made);
    end(filter, again, &made);
    CHECK_OK(penstock_filter_reset(filter));
    push(filter, 0, 900, 500, got, &(size_t){made = 0});
    CHECK_OK(penstock_filter_reset(filter));
    warnings = 0;
    made = 0;
    push(filter, 0, 900, 500, got, &made);
    wait_for_late(filter);
    push(filter, 900, SAMPLES - 900, 300, got, &made);
    end(filter, got, &made);
    CHECK(warnings == 1 && !filter->arrival && !is_late(filter), "%u warnings, on %s", warnings,
          info_of(filter).device);
    CHECK(!memcmp(got, again, made * sizeof *got), "the CPU's bits changed");
    check_values(use, filter, got, made, 900);
    penstock_filter_free(filter);
}

/* Allocation k from the device's arrival on: it is used, or the CPU goes on with a warning. */
static void sweep_memory(void)
{
    const struct use *use = &uses[2]; /* whose memory grows */
    long live = penstock__memory_live(), k = 0, kept = 0;
    make_want(use);
    for (bool reached = true; reached && k < 200; k++) {
        penstock_filter *filter = new_filter(use, "cpu");
        size_t made = 0;
        wait_for_late(filter);
        CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, TAPS, 1200)); /* the same, to be made anew there */
        penstock__arrival_free(filter->arrival);
        filter->arrival = NULL;
        push(filter, 0, 1000, 500, got, &made);
        send_late(filter, use);
        warnings = 0;
        long before = penstock__memory_calls();
        penstock__memory_fail_at(k);
        penstock__filter_welcome(filter);
        reached = penstock__memory_calls() - before > k;
        penstock__memory_fail_at(-1);
        push(filter, 1000, SAMPLES - 1000, 300, got, &made);
        end(filter, got, &made);
        kept += !is_late(filter);
        CHECK(is_late(filter) ? !warnings : warnings == 1, "allocation %ld: %u warnings, on %s", k, warnings,
              info_of(filter).device);
        check_values(use, filter, got, made, (size_t)k);
        penstock_filter_free(filter);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(kept > 1 && k < 200, "%ld of %ld allocations kept the CPU", kept, k);
}

/* The device is lost after it has come: every call from one on. */
static void lost(void)
{
    const struct use *use = &uses[0];
    long moved = 0, k = 0;
    make_want(use);
    for (bool reached = true; reached && k < 3000; k += k < 40 ? 1 : 17) {
        penstock_filter *filter = new_filter(use, "cpu");
        size_t made = 0;
        push(filter, 0, 1000, 500, got, &made);
        send_late(filter, use);
        long before = penstock__trace_calls();
        penstock__trace_fail_from(k);
        push(filter, 1000, SAMPLES - 1000, 300, got, &made);
        end(filter, got, &made);
        reached = penstock__trace_calls() - before > k;
        penstock__trace_fail_at(-1);
        penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
        CHECK_OK(penstock_filter_get_stats(filter, &stats));
        moved += stats.fallbacks > 0;
        check_values(use, filter, got, made, (size_t)k);
        penstock_filter_free(filter);
    }
    CHECK(moved > 10, "%ld of %ld runs moved to the CPU", moved, k);
}

/* Batches before the device came are counted, and no others. */
static void counts(void)
{
    const struct use *use = &uses[0];
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    penstock_filter *filter = new_filter(use, "cpu");
    size_t made = 0;
    make_want(use);
    push(filter, 0, 500, 500, got, &made);
    CHECK_OK(penstock_filter_get_stats(filter, &stats));
    CHECK_EQ(stats.meanwhile, 0);
    send_late(filter, use);
    push(filter, 500, SAMPLES - 500, 300, got, &made);
    end(filter, got, &made);
    CHECK_OK(penstock_filter_get_stats(filter, &stats));
    CHECK(stats.meanwhile <= 1 && stats.in == SAMPLES && stats.out == made, "%llu meanwhile, %llu in, %llu out",
          (unsigned long long)stats.meanwhile, (unsigned long long)stats.in, (unsigned long long)stats.out);
    penstock_filter_free(filter);
}

int main(int count, char **arguments)
{
    uint64_t seed = 5;
    penstock_filter *filter = NULL;
    long live = penstock__memory_live();
    kind = count > 1 ? arguments[1] : "trace";
    bool trace = !strcmp(kind, "trace");
    bool all = trace || getenv("PENSTOCK_TEST_FULL");
    positions = all ? 0 : 4;
    snprintf(preferred, sizeof preferred, "prefer:%s", kind);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = count_lines, .threads = 2)));
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t k = 0; k < TAPS; k++) {
        taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        other_taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        real_taps[k] = taps[k].re;
    }
    for (size_t u = 0; u < USES; u++)
        uses[u].desc.size = sizeof uses[u].desc;
    if (penstock_filter_new(&filter, context, &uses[0].desc, kind) == PENSTOCK_ERR_NO_DEVICE)
        return test_skip(penstock_error_text());
    penstock_filter_free(filter);
    for (size_t u = 0; u < USES; u++) {
        if (!all && u) /* a compiler takes seconds for each */
            break;
        make_want(&uses[u]);
        every_block(&uses[u]);
        same_bits(&uses[u]);
    }
    changes(500);
    changes(1301);
    make_want(&uses[0]);
    flushes();
    resets();
    channels();
    make_want(&uses[0]);
    fails();
    sweep_memory();
    if (trace)
        lost();
    counts();
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
    return test_finish();
}
