/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Batches of the filter on their way to a device that does a block in one kernel, several at once: the same bits as one
 * after the other, whatever the chunks, with changes of taps, flushes and resets in between; latency as told; and, with
 * a driver for tests, every call of the device failing once, or all from one on: no value is lost, and nothing leaks.
 *
 * Argument: a device.
 */
#include "core/base/memory.h"
#include "filter_direct.h"
#include "one_kernel.h"
#include "shim_calls.h"

#define SAMPLES  12000
#define TAPS     20
#define CHANNELS 2
#define FEW      6000 /* of the sweep */

static const char *device;
static penstock_cf32 samples[SAMPLES], taps[TAPS], other_taps[TAPS];
static penstock_cf32 good[SAMPLES + TAPS], other[SAMPLES + TAPS], got[2 * SAMPLES];

/* Several small batches; a limit of one block leaves one at a time. */
static penstock_filter_desc description(const penstock_cf32 *with, size_t max_latency)
{
    return PENSTOCK_FILTER_DESC(.taps = with, .tap_count = TAPS, .n = 64, .shift = 0.1, .tail = true,
                                .max_latency = max_latency);
}

static penstock_stream *filter_of(penstock_context *context, const penstock_cf32 *with, size_t max_latency)
{
    penstock_filter_desc desc = description(with, max_latency);
    penstock_stream *filter = NULL;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
    return filter;
}

static size_t run(penstock_stream *filter, size_t count, size_t most, penstock_cf32 *to)
{
    uint64_t seed = most;
    size_t made = 0;
    CHECK_OK(
        stream_push(filter, (const char *)samples, sizeof *samples, count, most, (char *)to, sizeof *to, &made, &seed));
    CHECK_OK(stream_end(filter, (char *)to, sizeof *to, &made));
    return made;
}

static bool same(const penstock_cf32 *a, const penstock_cf32 *b, size_t count)
{
    return !memcmp(a, b, count * sizeof *a);
}

static double error_of(const penstock_cf32 *a, const penstock_cf32 *b, size_t count)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < count; i++) {
        error += pow((double)a[i].re - b[i].re, 2) + pow((double)a[i].im - b[i].im, 2);
        norm += pow(b[i].re, 2) + pow(b[i].im, 2);
    }
    return norm > 0 ? sqrt(error / norm) : 0;
}

/* One batch at a time, and its values against their definition. */
static void make_good(penstock_context *context)
{
    penstock_stream *filter = filter_of(context, other_taps, 1);
    CHECK_EQ(run(filter, SAMPLES, SAMPLES, other), SAMPLES + TAPS - 1);
    penstock_stream_free(filter);
    filter = filter_of(context, taps, 1);
    CHECK_EQ(run(filter, SAMPLES, SAMPLES, good), SAMPLES + TAPS - 1);
    penstock_stream_free(filter);
    penstock_filter_desc desc = description(taps, 1);
    double error = 0, norm = 0;
    for (size_t m = 0; m < SAMPLES; m += 7) {
        double y[2];
        direct_value(y, samples, SAMPLES, &desc, m);
        error += pow((double)good[m].re - y[0], 2) + pow((double)good[m].im - y[1], 2);
        norm += y[0] * y[0] + y[1] * y[1];
    }
    CHECK(sqrt(error / norm) <= 2e-7 * sqrt(6), "error %g", sqrt(error / norm));
}

/* A value waits until the ring is full, and no longer. */
static void check_latency(penstock_context *context)
{
    penstock_stream *filter = filter_of(context, taps, 2000);
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    size_t most = 0, made = 0, count;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    CHECK(info.latency <= 2000 && info.latency > 4 * info.block, "latency %zu", info.latency);
    for (size_t t = 0; t < SAMPLES; t++) {
        CHECK_OK(penstock_stream_push(filter, samples + t, 1, &(size_t){0}));
        CHECK_OK(penstock_stream_pull(filter, got + made, SAMPLES, false, &count));
        made += count;
        most = t - made + 1 > most ? t - made + 1 : most;
    }
    CHECK_EQ(most, info.latency);
    CHECK(same(got, good, made), "%zu values: other bits", made);
    penstock_stream_free(filter);
}

static void check_chunks(penstock_context *context)
{
    static const size_t most[] = {1, 45, 300, 777, 5000, SAMPLES};
    penstock_stream *filter = filter_of(context, taps, 2000);
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        CHECK_EQ(run(filter, SAMPLES, most[i], got), SAMPLES + TAPS - 1);
        CHECK(same(got, good, SAMPLES + TAPS - 1), "chunks of up to %zu: other bits", most[i]);
        CHECK_OK(penstock_stream_reset(filter));
        CHECK_OK(
            penstock_stream_push(filter, samples, 1500, &(size_t){0})); /* the next reset has batches on their way */
        CHECK_OK(penstock_stream_reset(filter));
    }
    CHECK_OK(penstock_stream_push(filter, samples, 1500, &(size_t){0}));
    penstock_stream_free(filter);
}

/* At the edge of a batch, within one, and before the first. */
static void check_changes(penstock_context *context)
{
    penstock_stream *filter = filter_of(context, taps, 2000);
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    uint64_t seed = 3;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    for (unsigned i = 0; i < 12; i++) {
        const penstock_cf32 *from = i % 3 == 2 ? taps : other_taps, *then = i % 3 == 2 ? good : other;
        size_t at = (size_t)(test_random(&seed) % (SAMPLES - 100)), made = 0;
        at = i % 4 ? at : at / info.block * info.block;
        CHECK_OK(penstock_stream_reset(filter));
        CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, TAPS, 0));
        CHECK_OK(stream_push(filter, (const char *)samples, sizeof *samples, at, 999, (char *)got, sizeof *got, &made,
                             &seed));
        CHECK_OK(penstock_filter_set_taps(filter, from, NULL, TAPS, at));
        CHECK_OK(stream_push(filter, (const char *)(samples + at), sizeof *samples, SAMPLES - at, 999, (char *)got,
                             sizeof *got, &made, &seed));
        CHECK_OK(stream_end(filter, (char *)got, sizeof *got, &made));
        CHECK_EQ(made, SAMPLES + TAPS - 1);
        CHECK(same(got, good, at), "change at %zu: the values before it", at);
        CHECK(same(got + at, then + at, made - at), "change at %zu: the values after it", at);
    }
    penstock_stream_free(filter);
}

/* What a flush gives agrees with what would have come; all after it is the same. */
static void check_flush(penstock_context *context)
{
    penstock_stream *filter = filter_of(context, taps, 2000);
    uint64_t seed = 9;
    size_t made = 0, count;
    for (size_t at = 0, chunk; at < SAMPLES; at += chunk) {
        chunk = (size_t)(test_random(&seed) % 1700) + 1;
        chunk = chunk < SAMPLES - at ? chunk : SAMPLES - at;
        CHECK_OK(stream_push(filter, (const char *)(samples + at), sizeof *samples, chunk, 500, (char *)got,
                             sizeof *got, &made, &seed));
        CHECK_OK(penstock_stream_flush(filter));
        do {
            CHECK_OK(penstock_stream_pull(filter, got + made, 1 + (size_t)(test_random(&seed) % 700), false, &count));
            made += count;
        } while (count);
        CHECK_EQ(made, at + chunk);
    }
    CHECK_OK(stream_end(filter, (char *)got, sizeof *got, &made));
    CHECK_EQ(made, SAMPLES + TAPS - 1);
    CHECK(error_of(got, good, made) < 5e-7, "error %g", error_of(got, good, made));
    penstock_stream_free(filter);
}

/* A limit in seconds: batches on their way are waited for once it has passed. */
static void check_due(penstock_context *context)
{
    for (int i = 0; i < 2; i++) {
        penstock_filter_desc desc = description(taps, 2000);
        penstock_stream *filter = NULL;
        size_t count;
        desc.max_latency_s = i ? 1e-9 : 1e6;
        CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
        CHECK_OK(penstock_stream_push(filter, samples, 1300, &(size_t){0}));
        double due = penstock_stream_due_s(filter);
        CHECK(i ? due <= 1e-9 : due > 9e5 && due <= 1e6, "due in %g s", due);
        CHECK_OK(penstock_stream_pull(filter, got, SAMPLES, false, &count));
        CHECK(i ? count > 1200 : !count, "%zu values", count);
        CHECK_OK(penstock_stream_pull(filter, got + count, 100, true, &count));
        CHECK(i ? !count : count == 100, "%zu values more", count);
        CHECK(i || penstock_stream_due_s(filter) == 0, "values of a batch that was read in part are not due");
        CHECK(same(got, good, 100), "other bits");
        penstock_stream_free(filter);
    }
}

/* Each as alone. */
static void check_channels(penstock_context *context)
{
    const penstock_filter_channel channels[CHANNELS] = {{.taps = other_taps, .tap_count = TAPS, .shift = 0.1},
                                                        {.taps = taps, .tap_count = TAPS, .shift = 0.1}};
    static penstock_cf32 both[CHANNELS][SAMPLES + TAPS];
    penstock_stream *filter = NULL;
    size_t at = 0, made = 0, taken, count;
    CHECK_OK(penstock_filter_open(
        &filter, context,
        &PENSTOCK_FILTER_DESC(.channels = channels, .channel_count = CHANNELS, .n = 64, .max_latency = 2000), device));
    do {
        CHECK_OK(penstock_stream_push(filter, samples + at, SAMPLES - at < 900 ? SAMPLES - at : 900, &taken));
        at += taken;
        if (at == SAMPLES)
            CHECK_OK(penstock_stream_finish(filter));
        do {
            void *values[CHANNELS] = {both[0] + made, both[1] + made};
            CHECK_OK(penstock_stream_pull_channels(filter, values, 333, false, &count));
            made += count;
        } while (count);
    } while (at < SAMPLES);
    CHECK_EQ(made, SAMPLES);
    CHECK(same(both[0], other, SAMPLES) && same(both[1], good, SAMPLES), "channels differ from filters of their own");
    penstock_stream_free(filter);
}

/* ---------------------------------------------------------------- failures -------------------- */

/* A stream in which calls fail; after an error they do not any more, and the stream goes on. True: none was reached. */
static bool use(penstock_context *context, const char *name, void (*fail)(long), long k, long *errors)
{
    penstock_filter_desc desc = description(taps, 2000);
    penstock_stream *filter = NULL;
    size_t at = 0, made = 0, taken, count;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, name));
    CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, TAPS, FEW / 2));
    fail(k);
    for (bool finished = false; !finished || count;) {
        int status = at < FEW ? penstock_stream_push(filter, samples + at, FEW - at < 700 ? FEW - at : 700, &taken)
                              : penstock_stream_finish(filter);
        CHECK_OK(status);
        at += at < FEW ? taken : 0;
        finished = at == FEW && penstock_stream_finish(filter) == PENSTOCK_OK;
        do {
            if ((status = penstock_stream_pull(filter, got + made, 600, finished, &count))) {
                CHECK(!count && *penstock_error_text(), "call %ld: an error with values or without text", k);
                CHECK(strncmp(name, "prefer:", 7), "call %ld on %s: %s", k, name, penstock_error_text());
                ++*errors;
                shim.fail_at(-1);
                count = 1; /* again */
                continue;
            }
            made += count;
        } while (count);
        count = status;
    }
    bool beyond = shim.left() >= 0;
    shim.fail_at(-1);
    CHECK_EQ(made, FEW + TAPS - 1);
    CHECK(error_of(got, good, FEW) < 5e-7, "%s, call %ld: error %g", name, k, error_of(got, good, FEW));
    penstock_stream_free(filter);
    return beyond;
}

static void sweep(const char *name, void (*fail)(long), const char *how)
{
    penstock_context *context = NULL;
    long live = penstock__memory_live(), errors = 0, step = getenv("PENSTOCK_TEST_FULL") ? 1 : 5, k = 0, runs = 0;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (bool beyond = false; !beyond && k < 2000; k += k < 12 ? 1 : step, runs++)
        beyond = use(context, name, fail, k, &errors);
    penstock_context_free(context);
    printf("%s, %s: %ld runs, call %ld was beyond the last, %ld errors\n", name, how, runs, k, errors);
    CHECK(k > 60 && k < 2000, "%s: %ld calls", name, k);
    CHECK(fail == shim.fail_at || !strncmp(name, "prefer:", 7) || errors > 10, "%s, %s: %ld errors", name, how, errors);
    CHECK(!shim.live(), "%s, %s: %ld objects of the driver leaked", name, how, shim.live());
    CHECK(penstock__memory_live() == live, "%s, %s: %ld blocks leaked", name, how, penstock__memory_live() - live);
}

/* Allocation k of a filter's life and of its run fails. */
static void sweep_memory(void)
{
    penstock_context *context = NULL;
    penstock_filter_desc desc = description(taps, 2000);
    long live, failed = 0, k = 0;
    CHECK_OK(penstock_context_new(&context, NULL));
    penstock_stream_free(filter_of(context, taps, 2000)); /* the device is open now */
    live = penstock__memory_live();
    long step = getenv("PENSTOCK_TEST_FULL") ? 1 : 4;
    for (int status = 1; status && k < 2000; k += step) {
        penstock_stream *filter = NULL;
        size_t made = 0;
        uint64_t seed = 1;
        long before = penstock__memory_calls();
        penstock__memory_fail_at(k);
        if (!(status = penstock_filter_open(&filter, context, &desc, device)) &&
            !(status = stream_push(filter, (const char *)samples, sizeof *samples, FEW, 999, (char *)got, sizeof *got,
                                   &made, &seed)))
            status = stream_end(filter, (char *)got, sizeof *got, &made);
        status = penstock__memory_calls() - before > k; /* on until no allocation fails */
        penstock__memory_fail_at(-1);
        failed += status;
        CHECK(error_of(got, good, made < FEW ? made : FEW) < 5e-7, "allocation %ld: wrong values", k);
        penstock_stream_free(filter);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(failed > 20 && k < 2000, "%ld allocations failed", failed);
    printf("%ld allocations\n", failed);
    penstock_context_free(context);
}

int main(int count, char **arguments)
{
    penstock_context *context = NULL;
    penstock_stream *filter = NULL;
    penstock_filter_desc desc = description(taps, 2000);
    uint64_t seed = 1;
    int status;
    device = count > 1 ? arguments[1] : "opencl";
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t k = 0; k < TAPS; k++) {
        taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        other_taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    }
    CHECK_OK(penstock_context_new(&context, NULL));
    if ((status = penstock_filter_open(&filter, context, &desc, device)) == PENSTOCK_ERR_NO_DEVICE) {
        penstock_context_free(context);
        return test_skip(penstock_error_text());
    }
    CHECK_OK(status);
    CHECK_OK(one_kernel(filter, context));
    penstock_stream_free(filter);
    make_good(context);
    check_latency(context);
    check_chunks(context);
    check_changes(context);
    check_flush(context);
    check_due(context);
    check_channels(context);
    penstock_context_free(context);
    if (shim_load("PENSTOCK_OPENCL_LIBRARY") && shim.fail_from) {
        sweep("opencl", shim.fail_at, "once");
        sweep("opencl", shim.fail_from, "from it on");
        sweep("prefer:opencl", shim.fail_at, "once");
        sweep("prefer:opencl", shim.fail_from, "from it on");
        sweep_memory();
    }
    return test_finish();
}
