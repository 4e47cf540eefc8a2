/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* No failure of memory or of the device loses a frame of the receiver's, or leaves memory behind. */
#include "backends/trace/trace.h"
#include "core/base/memory.h"
#include "wifi_stream.h"

static penstock_context *context;

/* Pushes on after an error with what counters.samples says was not taken. Returns how many errors there were. */
static unsigned insist(struct wifi_frames *frames, penstock_stream *receiver, const struct wifi_stream *stream)
{
    penstock_wifi_counters counters = PENSTOCK_WIFI_COUNTERS;
    unsigned errors = 0;
    int status;
    frames->count = 0;
    do {
        CHECK_OK(penstock_wifi_receiver_get_counters(receiver, &counters));
        status = penstock_stream_push(receiver, stream->samples + counters.samples,
                                      stream->count - (size_t)counters.samples, NULL);
        errors += status != 0;
    } while (status && errors < 10);
    while ((status = penstock_stream_finish(receiver)) && errors < 10)
        errors++;
    wifi_frames_pull(frames, receiver);
    return errors;
}

static void test_allocations(void)
{
    static struct wifi_frames expected, frames;
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 8, 60, 51);
    penstock_wifi_receiver_desc desc = PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 5e-4, .points = true);
    penstock_stream *receiver = wifi_make_receiver(context, &desc, "cpu");
    wifi_frames_receive(&expected, receiver, PENSTOCK_CF32, stream->samples, stream->count, 0);
    penstock_stream_free(receiver);
    long live = penstock__memory_live(), k = 0, failed;
    do { /* while it is made */
        penstock__memory_fail_at(k);
        int status = penstock_wifi_receiver_open(&receiver, context, &desc, "cpu");
        penstock__memory_fail_at(-1);
        failed = status != 0;
        CHECK(!status || (status == PENSTOCK_ERR_MEMORY && !receiver), "allocation %ld: %d", k, status);
        penstock_stream_free(receiver);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks left", k, penstock__memory_live() - live);
        k++;
    } while (failed && k < 1000);
    CHECK(k > 20, "%ld allocations", k);
    k = 0;
    do { /* while it receives; one that has received has memory of the frames that it gave */
        receiver = wifi_make_receiver(context, &desc, "cpu");
        penstock__memory_fail_at(k++);
        failed = insist(&frames, receiver, stream);
        penstock__memory_fail_at(-1);
        CHECK(wifi_frames_equal(&expected, &frames), "allocation %ld", k - 1);
        wifi_frames_free(&frames);
        penstock_stream_free(receiver);
        CHECK_EQ(penstock__memory_live(), live);
    } while (failed && k < 1000);
    CHECK(k > 16, "%ld allocations", k);
    printf("%ld allocations failed in turn while frames came\n", k - 1);
    wifi_frames_free(&expected);
    wifi_stream_free(stream);
}

static void test_device_failures(void)
{
    static struct wifi_frames expected, frames;
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 12, 60, 61);
    penstock_wifi_receiver_desc desc = PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 5e-4);
    penstock_stream *receiver = wifi_make_receiver(context, &desc, "trace");
    wifi_frames_receive(&expected, receiver, PENSTOCK_CF32, stream->samples, stream->count, 0);
    wifi_check_stream(stream, &expected, "trace");
    long k = 0, errors;
    do { /* a device asked for by name: an error, and the next call goes on */
        CHECK_OK(penstock_stream_reset(receiver));
        penstock__trace_fail_at(k++);
        errors = insist(&frames, receiver, stream);
        penstock__trace_fail_at(-1);
        CHECK(wifi_frames_equal(&expected, &frames), "device call %ld", k - 1);
        CHECK_EQ(frames.counters.fallbacks, 0);
        wifi_frames_free(&frames);
    } while (errors && k < 1000);
    CHECK(k > 5, "%ld device calls", k);
    printf("%ld device calls failed in turn\n", k - 1);
    penstock_stream_free(receiver);
    for (long i = 0; i < k - 1; i++) { /* a device preferred: the CPU goes on */
        receiver = wifi_make_receiver(context, &desc, "prefer:trace");
        CHECK(!strcmp(penstock_stream_device(receiver), "trace"), "%s", penstock_stream_device(receiver));
        penstock__trace_fail_from(i);
        wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, stream->samples, stream->count, 0);
        penstock__trace_fail_at(-1);
        wifi_check_stream(stream, &frames, "prefer:trace");
        CHECK(frames.counters.fallbacks >= 1, "%" PRIu64 " fallbacks", frames.counters.fallbacks);
        wifi_frames_free(&frames);
        penstock_stream_free(receiver);
    }
    CHECK_EQ(penstock__trace_violations(), 0);
    wifi_frames_free(&expected);
    wifi_stream_free(stream);
}

int main(void)
{
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    test_allocations();
    test_device_failures();
    penstock_context_free(context);
    return test_finish();
}
