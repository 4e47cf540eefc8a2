/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The filter bank against its definition in double precision, each channel mixed, filtered and decimated by itself:
 * random numbers of channels, hops, taps, advances, selections, formats and chunks, on the device of the first
 * argument; each frame counted.
 */
#include "device.h"
#include "filter_direct.h"

#define MOST_SAMPLES 40000
#define MOST_VALUES  (8 * MOST_SAMPLES)
#define MOST_TAPS    20000
#define MOST_STREAMS 4096

static penstock_context *context;
static const char *device = "cpu";
static union {
    float f[2 * MOST_SAMPLES];
    int16_t s[2 * MOST_SAMPLES];
    uint8_t b[2 * MOST_SAMPLES];
} samples;
static penstock_cf32 values[MOST_VALUES];
static float taps[MOST_TAPS];
static size_t selected[MOST_STREAMS];
static int cases;

static void fill(penstock_format format, size_t count, uint64_t *seed)
{
    size_t floats = format == PENSTOCK_F32 ? count : 2 * count;
    for (size_t i = 0; i < floats; i++) {
        uint64_t random = test_random(seed);
        if (format == PENSTOCK_CS16)
            samples.s[i] = (int16_t)random;
        else if (format == PENSTOCK_CS8 || format == PENSTOCK_CU8)
            samples.b[i] = (uint8_t)random;
        else
            samples.f[i] = (float)((double)(int64_t)random * 0x1p-63);
    }
}

/* y[m][k] of channelizer.h, by direct_value() of a filter with real taps that shifts by -k / M, turned by -k o / M. */
static void direct(double y[2], const penstock_channelizer_desc *desc, size_t total, uint64_t m, size_t k)
{
    penstock_filter_desc filter = PENSTOCK_FILTER_DESC(.format = desc->format, .real_taps = taps);
    filter.tap_count = desc->tap_count;
    filter.shift = -(double)k / (double)desc->channels;
    direct_value(y, &samples, total, &filter, m * desc->hop + desc->advance);
    double angle = 2 * TEST_PI * filter.shift * (double)desc->origin, c = cos(angle), s = sin(angle), re = y[0];
    y[0] = re * c - y[1] * s;
    y[1] = re * s + y[1] * c;
}

static double compare(const penstock_channelizer_desc *desc, size_t kept, size_t total, size_t frames, bool streams,
                      uint64_t *seed)
{
    double difference = 0, power = 0;
    size_t all = frames * kept, chosen = all * desc->tap_count < 1000000 ? all : 1000000 / desc->tap_count + 40;
    for (size_t i = 0; i < chosen; i++) {
        size_t at = chosen == all ? i : (size_t)(test_random(seed) % all), m = at / kept, c = at % kept;
        penstock_cf32 got = values[streams ? c * frames + m : at];
        double y[2];
        direct(y, desc, total, m, desc->select ? desc->select[c] : c);
        difference += pow((double)got.re - y[0], 2) + pow((double)got.im - y[1], 2);
        power += y[0] * y[0] + y[1] * y[1];
    }
    return sqrt(difference / power);
}

static uint64_t expected_frames(const penstock_channelizer_desc *desc, size_t total)
{
    uint64_t count = 0, end = desc->tail ? total + desc->tap_count - 1 : total + desc->advance;
    for (uint64_t p = desc->advance; total && p < end; p += desc->hop)
        count++;
    return count;
}

/* Of each channel, from frame `made` on. */
static void *const *streams_at(size_t kept, size_t frames, size_t made)
{
    static void *to[MOST_STREAMS];
    for (size_t c = 0; c < kept; c++)
        to[c] = values + c * frames + made;
    return to;
}

/* Frames that are there, one after the other, or each value's `frames` one after the other. */
static int take(penstock_stream *channelizer, size_t kept, size_t frames, bool streams, bool wait, size_t most,
                size_t *made)
{
    size_t pulled = 1;
    int status = 0;
    while (pulled && !status) {
        size_t capacity = most < frames - *made ? most : frames - *made;
        status = streams ? penstock_stream_pull_channels(channelizer, streams_at(kept, frames, *made), capacity, wait,
                                                         &pulled)
                         : penstock_stream_pull(channelizer, values + *made * kept, capacity, wait, &pulled);
        *made += pulled;
    }
    return status;
}

/* Some samples in, and by one call of two the frames out for which there is room too. */
static int put(penstock_stream *channelizer, const char *from, size_t count, size_t *taken, size_t kept, size_t frames,
               bool streams, uint64_t *seed, size_t *made)
{
    size_t room = test_random(seed) % 4 ? frames - *made : test_random(seed) % (frames - *made + 1), given = 0;
    int status;
    if (test_random(seed) % 2)
        return penstock_stream_push(channelizer, from, count, taken);
    status = streams ? penstock_stream_run_channels(channelizer, from, count, taken, streams_at(kept, frames, *made),
                                                    room, &given)
                     : penstock_stream_run(channelizer, from, count, taken, values + *made * kept, room, &given);
    CHECK(given <= room, "%zu frames in room for %zu", given, room);
    *made += given;
    return status;
}

static int run(penstock_stream *channelizer, const penstock_channelizer_desc *desc, size_t kept, size_t total,
               size_t frames, bool streams, size_t most, uint64_t *seed, size_t *made)
{
    size_t at = 0, bytes = penstock_format_bytes(desc->format);
    int status = 0;
    while (at < total && !status) {
        size_t chunk = desc->format == PENSTOCK_PLANAR ? total : (size_t)(test_random(seed) % most) + 1, taken = 0;
        status = put(channelizer, (char *)&samples + at * bytes, chunk < total - at ? chunk : total - at, &taken, kept,
                     frames, streams, seed, made);
        at += taken;
        CHECK(desc->format != PENSTOCK_PLANAR || taken == total, "%zu of %zu planar samples taken", taken, total);
        if (!status && test_random(seed) % 3)
            status = take(channelizer, kept, frames, streams, test_random(seed) % 2, 1 + test_random(seed) % 99, made);
    }
    if (!status)
        status = penstock_stream_finish(channelizer);
    return status ? status : take(channelizer, kept, frames, streams, true, 1 + test_random(seed) % 9999, made);
}

static void run_case(penstock_channelizer_desc desc, size_t total, size_t most, bool streams, uint64_t seed)
{
    penstock_stream *channelizer = NULL;
    penstock_channelizer_info info = PENSTOCK_CHANNELIZER_INFO;
    size_t made = 0, frames = expected_frames(&desc, total), extra = 0;
    fill(desc.format, total, &seed);
    for (size_t k = 0; k < desc.tap_count; k++)
        taps[k] = (float)test_uniform(&seed);
    desc.taps = taps;
    int status = penstock_channelizer_open(&channelizer, context, &desc, device);
    CHECK(!status, "%zu channels on %s: %s", desc.channels, device, penstock_error_text());
    if (status)
        return;
    CHECK_OK(penstock_channelizer_get_info(channelizer, &info));
    CHECK_EQ(info.kept, desc.select ? desc.select_count : desc.channels);
    CHECK(info.delay == (double)(desc.tap_count - 1) / 2 - (double)desc.advance, "delay %g", info.delay);
    CHECK_OK(run(channelizer, &desc, info.kept, total, frames, streams, most, &seed, &made));
    CHECK_EQ(made, frames);
    CHECK_OK(penstock_stream_pull(channelizer, values + made * info.kept, 1, true, &extra));
    CHECK_EQ(extra, 0);
    double depth = ceil((double)desc.tap_count / (double)desc.channels);
    double error = compare(&desc, info.kept, total, made, streams, &seed);
    double bound = 1e-7 * (sqrt(log2((double)desc.channels)) + sqrt(depth) / 4) * (strcmp(device, "reference") ? 1 : 6);
    CHECK(!made || error <= bound, "%zu channels, hop %zu, %zu taps, advance %zu, %s: error %.3g, bound %.3g",
          desc.channels, desc.hop, desc.tap_count, desc.advance, penstock_format_name(desc.format), error, bound);
    penstock_stream_free(channelizer);
    cases++;
}

/* Some of the channels, in an order that is not theirs. */
static void choose_channels(penstock_channelizer_desc *desc, uint64_t *seed)
{
    size_t first = (size_t)(test_random(seed) % desc->channels);
    desc->select_count = 1 + (size_t)(test_random(seed) % desc->channels);
    for (size_t c = 0; c < desc->select_count; c++)
        selected[c] = (first + desc->channels - c) % desc->channels;
    desc->select = selected;
}

static void random_cases(int count, bool whole_powers)
{
    uint64_t seed = 11;
    for (int i = 0; i < count; i++) {
        penstock_channelizer_desc desc = PENSTOCK_CHANNELIZER_DESC(.tail = test_random(&seed) % 2);
        size_t power = (size_t)1 << (1 + test_random(&seed) % (whole_powers ? 7 : 10)),
               any = 2 + test_random(&seed) % 130;
        desc.channels = whole_powers || test_random(&seed) % 2 ? power : any;
        desc.hop = test_random(&seed) % 2 ? desc.channels : 1 + (size_t)(test_random(&seed) % desc.channels);
        desc.tap_count = 1 + (size_t)(test_random(&seed) % (20 * desc.channels));
        desc.tap_count = desc.tap_count < MOST_TAPS ? desc.tap_count : MOST_TAPS;
        desc.format = (penstock_format)(test_random(&seed) % 6);
        if (test_random(&seed) % 2)
            desc.advance = test_random(&seed) % desc.tap_count;
        if (test_random(&seed) % 2)
            desc.origin = test_random(&seed) % desc.channels;
        if (test_random(&seed) % 3 == 0)
            choose_channels(&desc, &seed);
        size_t most = MOST_VALUES / desc.channels * desc.hop, total = test_random(&seed) % MOST_SAMPLES;
        if (desc.format == PENSTOCK_PLANAR)
            total %= 3000;
        if (total + desc.tap_count + desc.hop > most)
            total = most > desc.tap_count + desc.hop ? most - desc.tap_count - desc.hop : 0;
        run_case(desc, total, 1 + test_random(&seed) % 9000, test_random(&seed) % 2, seed);
    }
}

static void edge_cases(void)
{
    for (size_t channels = 2; channels < 20; channels++) /* each width of the vectors */
        for (size_t hop = 1; hop <= channels; hop += channels > 8 ? 3 : 1)
            run_case(PENSTOCK_CHANNELIZER_DESC(.channels = channels, .hop = hop, .tap_count = 3 * channels + hop % 3),
                     400, 300, hop % 2, channels * 100 + hop);
    for (size_t total = 0; total < 5; total++)
        run_case(PENSTOCK_CHANNELIZER_DESC(.channels = 4, .hop = 3, .tap_count = 9, .tail = total % 2), total, 2, false,
                 total);
    run_case(PENSTOCK_CHANNELIZER_DESC(.channels = 4096, .hop = 2048, .tap_count = 16384), 40000, 7000, false, 3);
    run_case(PENSTOCK_CHANNELIZER_DESC(.channels = 1000, .hop = 1000, .tap_count = 12000), 40000, 7000, true, 4);
}

int main(int argc, char **argv)
{
    bool full = getenv("PENSTOCK_TEST_FULL") != NULL;
    if (argc > 1)
        device = argv[1];
    int exits = test_device(&context, device);
    if (exits)
        return exits;
    if (argc == 1)
        edge_cases();
    random_cases(full ? 1000 : argc > 1 ? 8 : 60, argc > 1);
    penstock_context_free(context);
    printf("%d cases\n", cases);
    return test_finish();
}
