/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Any number of threads, and any chunks, give the same frames to the bit, also where hops are gathered: frame by frame
 * on the processor, and by batches of which several are on their way, as for other devices. */
#include "core/base/memory.h"
#include "rx/receiver.h"
#include "wifi_stream.h"

enum { HOPS = 8 }; /* of the stream at least, so that a source that gives it at once is ahead */

/* Frames of all rates with and without gaps, some on top of each other, then noise alone, in which the detector fires
 * too; and a carrier, in which all windows stand out. */
static penstock_cf32 *make_samples(size_t *count)
{
    static const int gaps[] = {320, 12, -3, -900};
    penstock_cf32 *samples = NULL;
    *count = 0;
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 24, gaps[g], 70 + g);
        samples = realloc(samples, (*count + stream->count) * sizeof *samples);
        memcpy(samples + *count, stream->samples, stream->count * sizeof *samples);
        *count += stream->count;
        wifi_stream_free(stream);
    }
    const size_t noise = (size_t)HOPS * 65536, tone = 50000;
    uint64_t state = 5;
    samples = realloc(samples, (*count + noise + tone) * sizeof *samples);
    memset(samples + *count, 0, noise * sizeof *samples);
    wifi_add_noise(samples + *count, noise, 1, &state);
    *count += noise;
    for (size_t i = 0; i < tone; i++)
        samples[(*count)++] = (penstock_cf32){(float)cos(0.3 * (double)i), (float)sin(0.3 * (double)i)};
    return samples;
}

static bool same_counters(const penstock_wifi_counters *a, const penstock_wifi_counters *b)
{
    return !memcmp(a, b, sizeof *a);
}

/* All at once; the most samples that waited together, in hops. */
static int64_t push_all(penstock_stream *receiver, const penstock_cf32 *samples, size_t count, size_t chunk)
{
    const struct penstock__rx *rx = (const struct penstock__rx *)(const void *)receiver;
    int64_t most = 0;
    for (size_t done = 0, part; done < count; done += part) {
        part = count - done < chunk ? count - done : chunk;
        CHECK_OK(penstock_stream_push(receiver, samples + done, part, NULL));
        most = rx->end - rx->worked > most ? rx->end - rx->worked : most;
    }
    return most / 65536;
}

static void test_threads(const char *device, unsigned threads, const penstock_cf32 *samples, size_t count,
                         struct wifi_frames *expected)
{
    static const size_t chunks[] = {65536, 5000, 300000, SIZE_MAX};
    static struct wifi_frames frames;
    penstock_context *context = NULL;
    penstock_stream *receiver = NULL;
    int64_t most = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = threads)));
    CHECK_OK(penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = true), device));
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        CHECK_OK(penstock_stream_reset(receiver));
        frames.count = 0;
        int64_t waited = push_all(receiver, samples, count, chunks[i]);
        most = waited > most ? waited : most;
        CHECK_OK(penstock_stream_finish(receiver));
        wifi_frames_pull(&frames, receiver);
        if (!expected->count) {
            *expected = frames;
            frames.count = 0;
            CHECK(wifi_frames_good(expected) > 60, "%zu frames", wifi_frames_good(expected));
            continue;
        }
        CHECK(wifi_frames_equal(expected, &frames), "%s, %u threads, chunks of %zu: other frames", device, threads,
              chunks[i]);
        CHECK(same_counters(&expected->counters, &frames.counters), "%u threads, chunks of %zu: other counters",
              threads, chunks[i]);
        wifi_frames_free(&frames);
    }
    CHECK(threads == 1 ? most <= 1 : most > 1, "%s, %u threads: %lld hops waited together", device, threads,
          (long long)most);
    penstock_stream_free(receiver);
    penstock_context_free(context);
}

int main(void)
{
    static const unsigned threads[] = {1, 2, 3, 16};
    static const char *const devices[] = {"cpu", "trace"};
    static struct wifi_frames expected;
    long live = penstock__memory_live();
    size_t count;
    penstock_cf32 *samples = make_samples(&count);
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
            test_threads(devices[d], threads[i], samples, count, &expected);
        wifi_frames_free(&expected);
    }
    free(samples);
    CHECK_EQ(penstock__memory_live(), live);
    return test_finish();
}
