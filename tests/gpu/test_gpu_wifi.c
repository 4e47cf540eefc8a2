/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The Wi-Fi receiver where a GPU takes frames from samples to bits: the CPU's octets, counts and qualities, for every
 * rate; the same to the bit for any chunks and number of threads; and no frame is lost when a call of the driver or an
 * allocation fails. Argument: cuda or opencl.
 */
#include "backends/services.h"
#include "core/base/memory.h"
#include "device.h"
#include "rx/receiver.h"
#include "rx/wifi/receiver.h"
#include "shim_calls.h"
#include "wifi_stream.h"

#include <time.h>

enum { FRAMES = 40, FIRST = 30, STEP = 17 }; /* each of the first calls fails, and then one in so many */

static char device[32], preferred[40];
static int warnings;

static void count_warnings(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    warnings += level == PENSTOCK_LOG_WARNING;
    if (level == PENSTOCK_LOG_WARNING && warnings < 4)
        printf("  %s\n", line);
}

static penstock_context *context_of(unsigned threads)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = threads, .log = count_warnings)));
    return context;
}

static bool decodes_there(const penstock_stream *receiver)
{
    return ((const struct penstock__rx *)(const void *)receiver)->device;
}

static void receive_on(struct wifi_frames *frames, const char *name, unsigned threads, const struct wifi_stream *stream,
                       size_t chunk)
{
    penstock_context *context = context_of(threads);
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), name);
    if (receiver)
        wifi_frames_receive(frames, receiver, PENSTOCK_CF32, stream->samples, stream->count, chunk);
    CHECK(receiver && decodes_there(receiver) == (strcmp(name, "cpu") != 0),
          "%s: the decoder is not where it should be", name);
    penstock_stream_free(receiver);
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- frames ---------------------- */

static void compare(const struct wifi_frames *cpu, const struct wifi_frames *gpu, double noise)
{
    CHECK(cpu->count == gpu->count, "noise %g: %zu frames, not %zu", noise, gpu->count, cpu->count);
    for (size_t i = 0; i < cpu->count && i < gpu->count; i++) {
        const penstock_wifi_frame *x = &cpu->frame[i], *y = &gpu->frame[i];
        CHECK(x->sample == y->sample && x->length == y->length && x->rate_mbps == y->rate_mbps &&
                  x->decoded == y->decoded && x->snr_db == y->snr_db,
              "noise %g, frame %zu is another one", noise, i);
        CHECK(x->fcs_ok == y->fcs_ok && (!x->fcs_ok || !memcmp(x->psdu, y->psdu, x->length)),
              "noise %g, frame %zu at %g Mb/s: other octets", noise, i, x->rate_mbps);
        CHECK(!x->fcs_ok || fabs(x->raw_ber - y->raw_ber) < 2e-3, "noise %g, frame %zu: raw errors %g, not %g", noise,
              i, y->raw_ber, x->raw_ber);
        CHECK(fabs(x->evm_db - y->evm_db) < 0.01, "noise %g, frame %zu: %g dB, not %g", noise, i, y->evm_db, x->evm_db);
    }
}

/* Little noise, and so much that the faster rates' frames are lost. */
static void test_frames(void)
{
    static const double noises[] = {0, 0.005, 0.05};
    static struct wifi_frames cpu, gpu;
    size_t wrong_bits = 0;
    for (size_t n = 0; n < sizeof noises / sizeof *noises; n++) {
        struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, FRAMES, 40, 31 + n);
        uint64_t state = n;
        wifi_add_noise(stream->samples, stream->count, noises[n], &state);
        receive_on(&cpu, "cpu", 1, stream, 0);
        receive_on(&gpu, device, 2, stream, 0);
        compare(&cpu, &gpu, noises[n]);
        for (size_t i = 0; i < gpu.count; i++)
            wrong_bits += gpu.frame[i].raw_ber > 0;
        if (n == 0)
            wifi_check_stream(stream, &gpu, device);
        wifi_frames_free(&cpu);
        wifi_frames_free(&gpu);
        wifi_stream_free(stream);
    }
    CHECK(wrong_bits > FRAMES / 2, "only %zu frames had wrong bits", wrong_bits);
}

static void test_chunks(void)
{
    static const size_t chunks[] = {0, 70000, 9999};
    static struct wifi_frames expected, frames;
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 60, -3, 5);
    for (unsigned threads = 1; threads <= 3; threads += 2)
        for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
            receive_on(&frames, device, threads, stream, chunks[i]);
            if (expected.count)
                CHECK(wifi_frames_equal(&expected, &frames), "%u threads, chunks of %zu: other frames", threads,
                      chunks[i]);
            else
                expected = frames, frames.count = 0;
            wifi_frames_free(&frames);
        }
    CHECK(wifi_frames_good(&expected) > 20, "%zu good frames", wifi_frames_good(&expected));
    wifi_frames_free(&expected);
    wifi_stream_free(stream);
}

/* Points that are wanted come from transforms, and all else of a frame with them. */
static void test_points(void)
{
    static struct wifi_frames frames;
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 8, 40, 9);
    penstock_context *context = context_of(1);
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = true), device);
    CHECK(!decodes_there(receiver), "points do not come down, and are wanted");
    wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, stream->samples, stream->count, 0);
    wifi_check_stream(stream, &frames, "points");
    for (size_t i = 0; i < frames.count; i++)
        CHECK(frames.frame[i].point_count, "frame %zu has no points", i);
    wifi_frames_free(&frames);
    penstock_stream_free(receiver);
    penstock_context_free(context);
    wifi_stream_free(stream);
}

/* ---------------------------------------------------------------- failures -------------------- */

static long step(long k)
{
    return k < FIRST || getenv("PENSTOCK_TEST_FULL") ? 1 : STEP;
}

/* A stream on the device, and what came of it: an error, or all frames. */
static int receive_all(struct wifi_frames *frames, penstock_context *context, const char *name,
                       const struct wifi_stream *stream)
{
    penstock_stream *receiver = NULL;
    int status =
        penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), name);
    frames->count = 0;
    if (!status && !(status = penstock_stream_push(receiver, stream->samples, stream->count, NULL)) &&
        !(status = penstock_stream_finish(receiver)))
        wifi_frames_pull(frames, receiver);
    penstock_stream_free(receiver);
    return status;
}

static void test_calls_that_fail(const struct wifi_stream *stream, const char *name, void (*fail)(long k), bool good)
{
    static struct wifi_frames frames;
    long k = 0, failed = 0, objects = shim.live(), left = 0;
    penstock_context *context = context_of(2);
    for (; left <= 0 && k < 5000; k += step(k)) {
        fail(k);
        int status = receive_all(&frames, context, name, stream);
        left = shim.left();
        fail(-1);
        failed += status != 0;
        CHECK(!status || (!good && *penstock_error_text()), "%s, call %ld: %d", name, k, status);
        if (!status)
            wifi_check_stream(stream, &frames, name);
        wifi_frames_free(&frames);
        if (left > 0)
            break;
    }
    CHECK(k > 60, "%s: %ld calls", name, k);
    printf("%s: %ld calls of the driver, %ld of those that failed were errors\n", name, k, failed);
    penstock_context_free(context);
    CHECK(shim.live() == objects, "%s: %ld objects left", name, shim.live() - objects);
}

static void test_allocations(const struct wifi_stream *stream)
{
    static struct wifi_frames frames;
    penstock_context *context = context_of(2);
    long k = 0, errors = 0;
    for (bool reached = true; reached && k < 4000; k += step(k)) {
        const long before = penstock__memory_calls();
        penstock__memory_fail_at(k);
        int status = receive_all(&frames, context, device, stream);
        reached = penstock__memory_calls() - before > k;
        penstock__memory_fail_at(-1);
        CHECK(!status || status == PENSTOCK_ERR_MEMORY, "allocation %ld: %d, '%s'", k, status, penstock_error_text());
        errors += status != 0;
        if (!status)
            wifi_check_stream(stream, &frames, "allocations");
        wifi_frames_free(&frames);
    }
    CHECK(k > 60 && errors > 20, "%ld allocations, %ld errors", k, errors);
    printf("%ld allocations, %ld errors\n", k, errors);
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- ahead ----------------------- */

/* A source that is faster than the radio leaves frames on their way through the device when a push returns. */

enum { REPEATS = 4 };

static bool flies(const penstock_stream *receiver)
{
    return penstock__rx_device_flying((const struct penstock__rx *)(const void *)receiver);
}

/* The stream several times over; whether frames were on their way after a push. Pulls after each, or in the end. */
static bool push_repeats(struct wifi_frames *frames, penstock_stream *receiver, const struct wifi_stream *stream,
                         size_t chunk, bool pulls)
{
    bool flew = false;
    for (unsigned i = 0; i < REPEATS; i++)
        for (size_t done = 0, part; done < stream->count; done += part) {
            part = chunk && stream->count - done > chunk ? chunk : stream->count - done;
            CHECK_OK(penstock_stream_push(receiver, stream->samples + done, part, NULL));
            flew |= flies(receiver);
            if (pulls)
                wifi_frames_pull(frames, receiver);
        }
    return flew;
}

static void finish_and_compare(const struct wifi_frames *expected, struct wifi_frames *frames,
                               penstock_stream *receiver)
{
    CHECK_OK(penstock_stream_finish(receiver));
    CHECK(!flies(receiver), "frames are on their way behind the end");
    wifi_frames_pull(frames, receiver);
    compare(expected, frames, 0);
    wifi_frames_free(frames);
}

static void expect_repeats(struct wifi_frames *expected, const struct wifi_stream *stream)
{
    penstock_context *context = context_of(1);
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), "cpu");
    push_repeats(expected, receiver, stream, 0, true);
    CHECK_OK(penstock_stream_finish(receiver));
    wifi_frames_pull(expected, receiver);
    CHECK(wifi_frames_good(expected) == REPEATS * stream->frames, "%zu good frames", wifi_frames_good(expected));
    penstock_stream_free(receiver);
    penstock_context_free(context);
}

static void test_ahead(const struct wifi_stream *stream, const struct wifi_frames *expected)
{
    static const size_t chunks[] = {0, 65536, 300001};
    static struct wifi_frames frames, first;
    for (unsigned i = 0; i < 3; i++) {
        penstock_context *context = context_of(2 + i % 2);
        penstock_stream *receiver =
            wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), device);
        for (unsigned round = 0; round < 2;
             round++) { /* the second behind one that was given up with frames under way */
            wifi_frames_free(&frames);
            CHECK_OK(penstock_stream_reset(receiver));
            CHECK(push_repeats(&frames, receiver, stream, chunks[i], round), "no frame was on its way");
        }
        CHECK_OK(penstock_stream_finish(receiver));
        wifi_frames_pull(&frames, receiver);
        compare(expected, &frames, 0);
        if (!i)
            first = frames, frames.count = 0;
        else
            CHECK(wifi_frames_equal(&first, &frames), "chunks of %zu: other bits", chunks[i]);
        wifi_frames_free(&frames);
        CHECK_OK(penstock_stream_reset(receiver));
        push_repeats(&frames, receiver, stream, chunks[i], false);
        penstock_stream_free(receiver); /* with frames under way */
        penstock_context_free(context);
    }
    wifi_frames_free(&first);
}

/* What is under way comes within the latency when the source stalls. */
static void test_stall(const struct wifi_stream *stream, const struct wifi_frames *expected)
{
    static struct wifi_frames frames;
    penstock_context *context = context_of(2);
    penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), device);
    CHECK(push_repeats(&frames, receiver, stream, 0, false), "no frame was on its way");
    CHECK(penstock_stream_due_s(receiver) <= 10e-3, "due in %g s", penstock_stream_due_s(receiver));
    nanosleep(&(struct timespec){.tv_nsec = 15000000}, NULL);
    wifi_frames_pull(&frames, receiver);
    CHECK(!flies(receiver) && frames.count + 2 > expected->count, "%zu of %zu frames", frames.count, expected->count);
    finish_and_compare(expected, &frames, receiver);
    penstock_stream_free(receiver);
    penstock_context_free(context);
}

/* The device is lost with frames under way: the CPU has them all, of which the ring may have none. */
static void test_lost_ahead(const struct wifi_stream *stream, const struct wifi_frames *expected)
{
    static struct wifi_frames frames;
    long k = 0, left = 0, lost = 0, tried = 0;
    for (; left <= 0 && k < 2000; k += 3) {
        if (!test_drawn((uint64_t)k / 3, 5))
            continue;
        penstock_context *context = context_of(2);
        penstock_stream *receiver =
            wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), preferred);
        shim.fail_from(k);
        push_repeats(&frames, receiver, stream, 0, k % 2);
        finish_and_compare(expected, &frames, receiver);
        left = shim.left();
        shim.fail_from(-1);
        lost += !decodes_there(receiver);
        tried++;
        penstock_stream_free(receiver);
        penstock_context_free(context);
    }
    CHECK(k > 100 && lost > tried - 1 - tried / 15, "%ld of %ld calls, lost %ld times", tried, k,
          lost); /* not by what tells times */
    printf("%ld of %ld calls of the driver with frames under way, lost %ld times\n", tried, k, lost);
}

/* ---------------------------------------------------------------- later ----------------------- */

/* The CPU begins, and the device decodes once it is ready. */
static void test_while_compiling(const struct wifi_stream *stream)
{
    static struct wifi_frames frames;
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(
        &context, &PENSTOCK_CONTEXT_DESC(.threads = 2, .log = count_warnings, .cpu_while_compiling = true)));
    penstock_stream *receiver =
        wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), preferred);
    const double until = penstock__now_s() + 60;
    unsigned after = 0;
    while (after < 2 && penstock__now_s() < until) {
        after += decodes_there(receiver);
        CHECK_OK(penstock_stream_reset(receiver));
        wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, stream->samples, stream->count, 0);
        wifi_check_stream(stream, &frames, "while compiling");
        wifi_frames_free(&frames);
    }
    CHECK(after == 2, "the device never decoded");
    penstock_stream_free(receiver);
    receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), preferred);
    penstock_stream_free(receiver); /* at once, with a build under way */
    CHECK_OK(penstock__wifi_open_whole(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), device));
    CHECK(decodes_there(receiver), "the CPU serves one that is measured");
    penstock_stream_free(receiver);
    penstock_context_free(context);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "opencl";
    penstock_context *context;
    snprintf(device, sizeof device, "%s:0", kind);
    snprintf(preferred, sizeof preferred, "prefer:%s", device);
    int status = test_device(&context, device);
    if (status || !context)
        return status;
    penstock_context_free(context);
    const long live = penstock__memory_live();
    test_frames();
    test_chunks();
    test_points();
    static struct wifi_frames expected;
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 60, 40, 71);
    expect_repeats(&expected, stream);
    test_ahead(stream, &expected);
    test_stall(stream, &expected);
    if (!strcmp(kind, "opencl") && shim_load("PENSTOCK_OPENCL_LIBRARY"))
        test_lost_ahead(stream, &expected);
    wifi_frames_free(&expected);
    wifi_stream_free(stream);
    setenv("PENSTOCK_CACHE_DIR", "", 1); /* from here on kernels are compiled, and not read */
    warnings = 0;
    stream = wifi_make_stream(PENSTOCK_WIFI, 12, 60, 61);
    test_while_compiling(stream);
    CHECK(!warnings, "%d warnings", warnings);
    if (!strcmp(kind, "opencl") && shim_load("PENSTOCK_OPENCL_LIBRARY")) {
        test_calls_that_fail(stream, device, shim.fail_at, false);
        test_calls_that_fail(stream, preferred, shim.fail_from, true);
        test_allocations(stream);
    }
    wifi_stream_free(stream);
    CHECK_EQ(penstock__memory_live(), live);
    return test_finish();
}
