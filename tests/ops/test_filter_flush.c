/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A filter that is flushed in mid-stream: every value that the samples so far determine comes at once, each value comes
 * once, all agree with direct summation; and a filter that goes on where another one was, in the phase of its shift.
 */
#include "filter_direct.h"

#define SAMPLES 9000
#define TAPS    33

static float samples[2 * SAMPLES];
static float taps[2 * TAPS];
static char values[SAMPLES * sizeof(penstock_cf32)];

/* Value m as complex number, whatever its type. */
static void value(double y[2], const char *made, bool real, size_t m)
{
    const float *v = (const float *)(const void *)made;
    y[0] = (double)(real ? v[m] : v[2 * m]);
    y[1] = real ? 0 : (double)v[2 * m + 1];
}

static void check_values(const char *made, const penstock_filter_desc *desc, size_t n, bool real, size_t count)
{
    double error = 0, power = 0;
    for (size_t m = 0; m < count; m++) {
        double y[2], e[2];
        value(y, made, real, m);
        direct_value(e, samples, SAMPLES, desc, m * (desc->decimation ? desc->decimation : 1) + desc->advance);
        error += (y[0] - e[0]) * (y[0] - e[0]) + (y[1] - e[1]) * (y[1] - e[1]);
        power += e[0] * e[0] + e[1] * e[1];
    }
    CHECK(error <= power * 4e-14 * log2((double)n), "relative error %g of transforms of %zu", sqrt(error / power), n);
}

/* All that can be pulled. */
static void pull_all(penstock_stream *filter, size_t value_bytes, size_t *made)
{
    size_t count;
    do {
        CHECK_OK(penstock_stream_pull(filter, values + *made * value_bytes, 77, true, &count));
        *made += count;
    } while (count);
}

static void check_flushed(penstock_context *context, penstock_filter_desc desc, uint64_t seed)
{
    penstock_stream *filter = NULL;
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    size_t at = 0, made = 0, sample_bytes = penstock_format_bytes(desc.format);
    size_t d = desc.decimation ? desc.decimation : 1, flushes = 0;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, "cpu"));
    CHECK_OK(penstock_filter_get_info(filter, &info));
    while (at < SAMPLES) {
        size_t chunk = (size_t)(test_random(&seed) % 700) + 1, taken;
        chunk = chunk < SAMPLES - at ? chunk : SAMPLES - at;
        CHECK_OK(penstock_stream_push(filter, (const char *)samples + at * sample_bytes, chunk, &taken));
        at += taken;
        if (test_random(&seed) % 3 == 0 || taken < chunk)
            pull_all(filter, info.value_bytes, &made);
        if (test_random(&seed) % 2)
            continue;
        pull_all(filter, info.value_bytes, &made);
        CHECK_OK(penstock_stream_flush(filter));
        pull_all(filter, info.value_bytes, &made);
        CHECK_EQ(made, at <= desc.advance ? 0 : (at - desc.advance + d - 1) / d);
        flushes++;
    }
    CHECK_OK(penstock_stream_flush(filter));
    CHECK_OK(penstock_stream_finish(filter));
    CHECK_OK(penstock_stream_flush(filter));
    pull_all(filter, info.value_bytes, &made);
    CHECK_EQ(made, (SAMPLES + d - 1) / d);
    CHECK(flushes > 3, "%zu flushes", flushes);
    check_values(values, &desc, info.n, info.real, made);
    penstock_stream_free(filter);
}

/* One filter to sample `cut`, then another from there on that has its own history to gather. */
static void check_continued(penstock_context *context, double shift, size_t cut)
{
    penstock_filter_desc desc = PENSTOCK_FILTER_DESC(.taps = (const penstock_cf32 *)(const void *)taps,
                                                     .tap_count = TAPS, .n = 256, .shift = shift, .phase = 0.0);
    penstock_stream *filter = NULL;
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    size_t made = cut + TAPS - 1, taken;
    double error = 0;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, "cpu"));
    CHECK_OK(penstock_stream_push(filter, samples, cut, &taken));
    CHECK_EQ(taken, cut);
    CHECK_OK(penstock_filter_get_info(filter, &info));
    penstock_stream_free(filter);
    desc.phase = info.phase;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, "cpu"));
    CHECK_OK(penstock_stream_push(filter, samples + 2 * cut, 400, &taken));
    CHECK_EQ(taken, 400);
    CHECK_OK(penstock_stream_finish(filter));
    CHECK_OK(penstock_stream_pull(filter, values, 400, true, &taken));
    for (; made < cut + 400; made++) {
        double y[2], e[2];
        value(y, values, false, made - cut);
        direct_value(e, samples, SAMPLES, &desc, made);
        error = fmax(error, hypot(y[0] - e[0], y[1] - e[1]));
    }
    CHECK(error < 1e-5, "shift %g, cut at %zu: error %g", shift, cut, error);
    penstock_stream_free(filter);
}

/* All values, of samples that were pushed or, while the filter keeps some of them waiting, committed. */
static size_t finish_with(penstock_context *context, const uint8_t *in, bool commits, char *to)
{
    enum { LENT = 5000 };
    penstock_stream *filter = NULL;
    void *memory = NULL;
    size_t made = 0, more = 1, room = 0;
    CHECK_OK(penstock_filter_open(&filter, context,
                                  &PENSTOCK_FILTER_DESC(.format = PENSTOCK_CU8, .real_taps = taps, .tap_count = 64,
                                                        .decimation = 100, .max_latency = 100),
                                  "cpu"));
    for (size_t at = 0; at < LENT && !commits; at += more) {
        size_t given = 0;
        CHECK_OK(penstock_stream_push(filter, in + 2 * at, LENT - at, &more));
        CHECK_OK(penstock_stream_pull(filter, to + made * sizeof(penstock_cf32), SAMPLES, false, &given));
        made += given;
    }
    if (commits) {
        CHECK_OK(penstock_stream_acquire(filter, &memory, &room));
        CHECK(room >= LENT, "room for %zu", room);
        memcpy(memory, in, 2 * LENT);
        CHECK_OK(penstock_stream_commit(filter, LENT));
    }
    CHECK_OK(penstock_stream_finish(filter));
    for (more = 1; more; made += more)
        CHECK_OK(penstock_stream_pull(filter, to + made * sizeof(penstock_cf32), SAMPLES, true, &more));
    penstock_stream_free(filter);
    return made;
}

/* The end comes behind what waits, in blocks as they always are. */
static void check_finish_behind_held(void)
{
    static uint8_t in[2 * SAMPLES];
    static char pushed[SAMPLES * sizeof(penstock_cf32)];
    penstock_context *context = NULL;
    uint64_t seed = 8;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)test_random(&seed);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1)));
    const size_t count = finish_with(context, in, false, pushed), same = finish_with(context, in, true, values);
    CHECK_EQ(count, 50);
    CHECK(same == count && !memcmp(values, pushed, count * sizeof(penstock_cf32)), "%zu values, or others", same);
    penstock_context_free(context);
}

int main(void)
{
    const penstock_cf32 *complex_taps = (const penstock_cf32 *)(const void *)taps;
    penstock_context *context = NULL;
    uint64_t seed = 3;
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        samples[i] = (float)test_uniform(&seed);
    for (size_t k = 0; k < 2 * TAPS; k++)
        taps[k] = (float)test_uniform(&seed);
    const penstock_filter_desc descs[] = {
        PENSTOCK_FILTER_DESC(.taps = complex_taps, .tap_count = TAPS, .n = 1024),
        PENSTOCK_FILTER_DESC(.taps = complex_taps, .tap_count = TAPS, .n = 4096, .decimation = 5, .shift = 0.123),
        PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = TAPS, .n = 500, .decimation = 4, .advance = 7),
        PENSTOCK_FILTER_DESC(.format = PENSTOCK_F32, .real_taps = taps, .tap_count = TAPS, .n = 1000, .decimation = 3),
        PENSTOCK_FILTER_DESC(.taps = complex_taps, .tap_count = 1, .n = 64),
        PENSTOCK_FILTER_DESC(.taps = complex_taps, .tap_count = TAPS, .max_taps = 50, .n = 16384),
    };
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < sizeof descs / sizeof descs[0]; i++)
        for (uint64_t k = 0; k < 4; k++)
            check_flushed(context, descs[i], 10 * i + k);
    for (size_t cut = 100; cut < 8000; cut += 1501) {
        check_continued(context, 0.1234567, cut);
        check_continued(context, -0.49, cut);
    }
    check_finish_behind_held();
    CHECK_EQ(penstock_stream_flush(NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_stream *filter = NULL;
    CHECK_EQ(penstock_filter_open(&filter, context,
                                  &PENSTOCK_FILTER_DESC(.taps = complex_taps, .tap_count = 1, .phase = NAN), "cpu"),
             PENSTOCK_ERR_ARGUMENT);
    penstock_context_free(context);
    return test_finish();
}
