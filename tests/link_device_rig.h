/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Filters and spectra of one device, linked and one by one, for the tests of links that keep values there. */
#ifndef PENSTOCK_TEST_LINK_DEVICE_RIG_H
#define PENSTOCK_TEST_LINK_DEVICE_RIG_H

#include "core/memory.h"
#include "relative_error.h"
#include "test.h"

#include <penstock/bench.h>
#include <penstock/penstock.h>

enum { SAMPLES = 24000, TAPS = 33, N = 64, AVERAGE = 2, ROOM = SAMPLES * 8, VECTOR = N * 4 };

static const char *device; /* of the command line */
static int16_t integers[2 * SAMPLES];
static penstock_cf32 between[SAMPLES];
static float taps[TAPS];
static char want[ROOM], got[ROOM];

/* ---------------------------------------------------------------- streams --------------------- */

/* Batches of a few blocks. */
static inline int open_filter(penstock_stream **stream, penstock_context *context, const char *on, bool is_integer,
                              size_t decimation)
{
    return penstock_filter_open(stream, context,
                                &PENSTOCK_FILTER_DESC(.format = is_integer ? PENSTOCK_CS16 : PENSTOCK_CF32,
                                                      .real_taps = taps, .tap_count = TAPS, .decimation = decimation,
                                                      .n = 256, .shift = 0.1, .max_latency = 4000),
                                on);
}

static inline int open_spectrum(penstock_stream **stream, penstock_context *context, const char *on, size_t hop)
{
    return penstock_spectrum_open(
        stream, context,
        &PENSTOCK_SPECTRUM_DESC(.n = N, .hop = hop, .average = AVERAGE, .output = PENSTOCK_OUTPUT_POWER), on);
}

static inline penstock_stream_stats stats_of(const penstock_stream *stream)
{
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    return stats;
}

static inline size_t bytes_of(const penstock_stream *stream, bool out)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    CHECK_OK(penstock_stream_get_info(stream, &info));
    return out ? info.out_bytes : info.in_bytes;
}

/* Pulls what there is, up to `most` items at a time. */
static inline int pull(penstock_stream *last, char *out, size_t *made, size_t most, bool wait)
{
    const size_t bytes = bytes_of(last, true);
    size_t given = 1;
    int status = PENSTOCK_OK;
    for (; given && !status; *made += given * bytes) {
        const size_t room = (ROOM - *made) / bytes;
        status = penstock_stream_pull(last, out + *made, most < room ? most : room, wait, &given);
    }
    return status;
}

/* Samples `at` .. `end` in pieces at random (seed 0: as large as can be), without an end. */
static inline int push(penstock_stream *first, penstock_stream *last, const void *in, size_t at, size_t end, char *out,
                       size_t *made, uint64_t seed)
{
    const size_t bytes = bytes_of(first, false);
    int status = PENSTOCK_OK;
    while (at < end && !status) {
        size_t piece = seed ? test_random(&seed) % 3000 + 1 : end - at, taken = 0, given = 0;
        piece = piece < end - at ? piece : end - at;
        status = penstock_stream_push(first, (const char *)in + at * bytes, piece, &taken);
        at += taken;
        if (!status && (taken < piece || (seed && test_random(&seed) % 2)))
            status = pull(last, out, made, seed ? test_random(&seed) % 9 + 1 : SAMPLES, false);
        if (!status && seed % 3 == 1 && test_random(&seed) % 8 == 0) {
            status = penstock_stream_pull(last, out + *made, 1, true, &given);
            *made += given * bytes_of(last, true);
        }
    }
    return status;
}

static inline int run(penstock_stream *first, penstock_stream *last, const void *in, size_t count, char *out,
                      size_t *made, uint64_t seed)
{
    *made = 0;
    int status = push(first, last, in, 0, count, out, made, seed);
    if (!status)
        status = penstock_stream_finish(first);
    return status ? status : pull(last, out, made, SAMPLES, true);
}

/* Filter and spectrum of 16 bits by 2, linked. */
static inline int open_chain(penstock_stream **first, penstock_stream **second, penstock_context *context,
                             const char *on)
{
    int status = open_filter(first, context, on, true, 2);
    if (!status)
        status = open_spectrum(second, context, on, N);
    return status ? status : penstock_stream_link(*first, *second);
}

/* One by one, with other taps from sample `at` on and a window, where these are given. Bytes that come. */
static inline size_t run_apart(penstock_context *context, size_t count, const float *other_taps, size_t at,
                               const float *window, char *out)
{
    penstock_stream *first, *second;
    size_t half, made;
    CHECK_OK(open_filter(&first, context, device, true, 2));
    CHECK_OK(open_spectrum(&second, context, device, N));
    if (window)
        CHECK_OK(penstock_spectrum_set_window(second, NULL, window));
    if (other_taps)
        CHECK_OK(penstock_filter_set_taps(first, NULL, other_taps, TAPS, at));
    CHECK_OK(run(first, first, integers, count, (char *)between, &half, 0));
    CHECK_OK(run(second, second, between, half / sizeof *between, out, &made, 0));
    penstock_stream_free(first);
    penstock_stream_free(second);
    return made;
}

/* Samples and taps, and a context on which the device filters in one kernel: true; or what it lacks as an error text.
 */
static inline bool rig_open(penstock_context **context, int count, char **arguments)
{
    penstock_stream *filter = NULL;
    penstock_bench *bench = NULL;
    uint64_t seed = 1;
    device = count > 1 ? arguments[1] : "opencl";
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        integers[i] = (int16_t)(20000 * test_uniform(&seed));
    for (size_t k = 0; k < TAPS; k++)
        taps[k] = (float)test_uniform(&seed) / TAPS;
    CHECK_OK(penstock_context_new(context, NULL));
    int status = open_filter(&filter, *context, device, true, 2);
    if (!status)
        status = penstock_bench_new_filter(&bench, filter, integers, 1024, 2);
    penstock_bench_free(bench);
    penstock_stream_free(filter);
    if (status)
        penstock_context_free(*context);
    return !status;
}

#endif
