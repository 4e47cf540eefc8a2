/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The CPU serves while a device's kernels are compiled: operators that are made of several plans, or have a history. */
#include "core/base/memory.h"
#include "fft_error.h"
#include "ops/filter/filter_stream.h"
#include "slow_compiler.h"
#include "wifi_stream.h"

/* ---------------------------------------------------------------- filters --------------------- */

#define TAPS     33
#define POINTS   64
#define CHUNK    777
#define FILTERED 38400

static penstock_cf32 in[FILTERED], out[FILTERED];
static float taps[TAPS];
static double right[2 * FILTERED]; /* the CPU's values: their errors are for other tests */

static void make_samples(void)
{
    uint64_t seed = 7;
    for (size_t i = 0; i < FILTERED; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
}

static penstock_stream *new_filter(penstock_context *context, const char *device)
{
    penstock_stream *filter = NULL;
    CHECK_OK(penstock_filter_open(
        &filter, context, &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = TAPS, .n = POINTS, .shift = 0.1),
        device));
    return filter;
}

static bool is_on(const penstock_stream *filter, const char *device)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    return !strncmp(info.device, device, strlen(device));
}

/* The next chunk; values against the CPU's. */
static void filter_chunk(penstock_stream *filter, size_t *at, size_t *made, size_t most)
{
    size_t left = FILTERED - *at, taken = 0, given = 0;
    CHECK_OK(penstock_stream_run(filter, in + *at, left < most ? left : most, &taken, out, FILTERED - *made, &given));
    double error = given ? relative_error(&out->re, right + 2 * *made, 2 * given) : 0;
    CHECK(error <= 2 * error_bound(POINTS) * 2, "values from %zu on have error %g", *made, error);
    *at += taken;
    *made += given;
}

/* Until nothing is waited for, over and over again, and to the end. */
static void filter_stream(penstock_stream *filter, char *text)
{
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    double start = now_s();
    size_t at = 0, made = 0, given;
    for (unsigned i = 0; i < 4; i++)
        filter_chunk(filter, &at, &made, CHUNK);
    CHECK_OK(penstock_stream_get_stats(filter, &stats));
    CHECK(is_on(filter, "cpu") && stats.cpu_while_compiling > 0, "a filter that waits is not on the CPU");
    start_feeding(text);
    while (((struct filter_stream *)(void *)filter)->build && now_s() - start < GUARD_S) {
        if (at == FILTERED) {
            CHECK_OK(penstock_stream_reset(filter));
            at = made = 0;
        }
        filter_chunk(filter, &at, &made, CHUNK);
    }
    CHECK_OK(penstock_stream_get_stats(filter, &stats));
    while (at < FILTERED)
        filter_chunk(filter, &at, &made, 5 * CHUNK);
    stop_feeding();
    CHECK_OK(penstock_stream_finish(filter));
    do
        CHECK_OK(penstock_stream_pull(filter, out, FILTERED, true, &given));
    while (made += given, given);
    CHECK_EQ(made, FILTERED);
    CHECK(!stats.fallbacks, "%llu fallbacks", (unsigned long long)stats.fallbacks);
}

/* It goes over in mid-stream, stays where kernels do not compile, or is freed. */
static void filters(void)
{
    const char *const devices[] = {preferred, "auto"};
    penstock_context *context = NULL;
    size_t count = 0;
    make_samples();
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 2)));
    for (size_t k = 0; k < TAPS; k++)
        taps[k] = (float)(k + 1) / TAPS;
    penstock_stream *filter = new_filter(context, "cpu");
    CHECK_OK(penstock_stream_push(filter, in, FILTERED, &count));
    CHECK_EQ(count, FILTERED);
    CHECK_OK(penstock_stream_finish(filter));
    CHECK_OK(penstock_stream_pull(filter, out, FILTERED, true, &count));
    CHECK_EQ(count, FILTERED);
    for (size_t i = 0; i < 2 * FILTERED; i++)
        right[i] = (double)(&out->re)[i];
    penstock_stream_free(filter);
    penstock_context_free(context);
    for (unsigned i = 0; i < 4; i++) {
        context = new_context();
        filter = new_filter(context, devices[i == 1]);
        if (i < 3) {
            filter_stream(filter, i < 2 ? content : nothing);
            CHECK(i == 1 || is_on(filter, i ? "cpu" : kind), "filter %u ends on another device", i);
            CHECK(warnings == (i == 2), "filter %u: %u warnings, \"%s\"", i, warnings, warning);
            penstock_stream_free(filter);
        } else {
            start_feeding(content);
            penstock_stream_free(filter);
            stop_feeding();
        }
        penstock_context_free(context);
    }
}

/* ---------------------------------------------------------------- receivers ------------------- */

/* A whole stream, again and again: before the compiler has anything, until the device is there, and on it. */
static void receivers(void)
{
    static struct wifi_frames frames;
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 8, 200, 9);
    penstock_context *context = new_context();
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), preferred);
    double start = now_s();
    bool waits = true, fed = false;
    for (unsigned after = 0; after < 2 && now_s() - start < GUARD_S; after += !waits) {
        waits = !is_kind(penstock_stream_device(receiver));
        CHECK_OK(penstock_stream_reset(receiver));
        wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, stream->samples, stream->count, 777);
        wifi_check_stream(stream, &frames, "a receiver that waits");
        wifi_frames_free(&frames);
        CHECK_OK(penstock_stream_get_stats(receiver, &stats));
        CHECK(waits ? fed || stats.cpu_while_compiling : !stats.cpu_while_compiling, "%d batches meanwhile",
              (int)stats.cpu_while_compiling);
        CHECK(!stats.fallbacks, "%d fallbacks", (int)stats.fallbacks);
        if (!fed)
            start_feeding(content);
        fed = true;
    }
    stop_feeding();
    CHECK(!waits && !warnings, "no device within %d s, %u warnings: %s", GUARD_S, warnings, warning);
    penstock_stream_free(receiver);
    receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), preferred);
    start_feeding(content);
    penstock_stream_free(receiver);
    stop_feeding();
    penstock_context_free(context);
    wifi_stream_free(stream);
}

int main(int count, char **arguments)
{
    int exits;
    if (!begin(&exits, count, arguments))
        return exits;
    filters();
    receivers();
    CHECK_EQ(penstock__memory_live(), 0);
    return finish();
}
