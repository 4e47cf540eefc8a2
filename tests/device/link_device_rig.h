/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Filters and spectra of one device, linked and one by one, for the tests of links that keep values there. */
#ifndef PENSTOCK_TEST_LINK_DEVICE_RIG_H
#define PENSTOCK_TEST_LINK_DEVICE_RIG_H

#include "core/base/memory.h"
#include "link_run.h"
#include "one_kernel.h"
#include "relative_error.h"

enum { SAMPLES = 24000, TAPS = 33, N = 64, AVERAGE = 2, ROOM = SAMPLES * 8, VECTOR = N * 4 };

static const char *device; /* of the command line */
static int16_t integers[2 * SAMPLES];
static penstock_cf32 between[SAMPLES];
static float taps[TAPS];
static char want[ROOM], got[ROOM];

/* ---------------------------------------------------------------- streams --------------------- */

/* Batches of a few blocks. */
static inline int open_resampling_filter(penstock_stream **stream, penstock_context *context, const char *on,
                                         bool is_integer, size_t interpolation, size_t decimation)
{
    return penstock_filter_open(stream, context,
                                &PENSTOCK_FILTER_DESC(.format = is_integer ? PENSTOCK_CS16 : PENSTOCK_CF32,
                                                      .real_taps = taps, .tap_count = TAPS,
                                                      .interpolation = interpolation, .decimation = decimation,
                                                      .n = 256, .shift = 0.1, .max_latency = 4000),
                                on);
}

static inline int open_filter(penstock_stream **stream, penstock_context *context, const char *on, bool is_integer,
                              size_t decimation)
{
    return open_resampling_filter(stream, context, on, is_integer, 1, decimation);
}

static inline int open_spectrum(penstock_stream **stream, penstock_context *context, const char *on, size_t hop)
{
    return penstock_spectrum_open(
        stream, context,
        &PENSTOCK_SPECTRUM_DESC(.n = N, .hop = hop, .average = AVERAGE, .output = PENSTOCK_OUTPUT_POWER), on);
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
    uint64_t seed = 1;
    device = count > 1 ? arguments[1] : "opencl";
    room = ROOM;
    most_piece = 3000;
    waits_seldom = true; /* what is waited for leaves the device */
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        integers[i] = (int16_t)(20000 * test_uniform(&seed));
    for (size_t k = 0; k < TAPS; k++)
        taps[k] = (float)test_uniform(&seed) / TAPS;
    CHECK_OK(penstock_context_new(context, NULL));
    int status = open_filter(&filter, *context, device, true, 2);
    if (!status)
        status = one_kernel(filter, *context);
    penstock_stream_free(filter);
    if (status)
        penstock_context_free(*context);
    return !status;
}

#endif
