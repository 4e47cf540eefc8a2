/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Several channels from one forward transform: each gives the bits that a filter of its own gives, in whatever chunks,
 * and a change of one channel's taps changes no other one; on the device of the first argument.
 */
#include "device.h"
#include "filter_direct.h"

#define SAMPLES  20000
#define CHANNELS 4
#define MOST     70

static penstock_context *context;
static const char *device = "cpu";
static float samples[2 * SAMPLES];
static penstock_cf32 taps[CHANNELS][MOST], other[MOST];
static penstock_cf32 alone[CHANNELS][2 * SAMPLES], got[CHANNELS][2 * SAMPLES];

static size_t run_alone(penstock_filter_desc desc, const penstock_filter_channel *channel, bool change, void *to)
{
    penstock_stream *filter = NULL;
    size_t made = 0, taken;
    desc.taps = channel->taps;
    desc.real_taps = channel->real_taps;
    desc.tap_count = channel->tap_count;
    desc.max_taps = MOST;
    desc.shift = channel->shift;
    desc.phase = channel->phase;
    desc.channels = NULL;
    desc.channel_count = 0;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
    if (change)
        CHECK_OK(penstock_filter_set_taps(filter, other, NULL, MOST, 7777));
    CHECK_OK(penstock_stream_run(filter, samples, SAMPLES, &taken, to, 2 * SAMPLES, &made));
    CHECK_EQ(taken, SAMPLES);
    CHECK_OK(penstock_stream_finish(filter));
    CHECK_OK(penstock_stream_pull(filter, (char *)to + made * 8, 2 * SAMPLES - made, true, &taken));
    penstock_stream_free(filter);
    return made + taken;
}

/* All channels in random chunks by calls of both kinds. */
static size_t run_together(penstock_stream *filter, uint64_t seed)
{
    size_t at = 0, made = 0, taken, count;
    while (at < SAMPLES) {
        void *values[CHANNELS];
        size_t chunk = (size_t)(test_random(&seed) % 3000), room = (size_t)(test_random(&seed) % 3000);
        for (int c = 0; c < CHANNELS; c++)
            values[c] = got[c] + made;
        chunk = chunk < SAMPLES - at ? chunk : SAMPLES - at;
        if (test_random(&seed) % 2) {
            CHECK_OK(penstock_stream_run_channels(filter, samples + 2 * at, chunk, &taken, values, room, &count));
        } else {
            CHECK_OK(penstock_stream_push(filter, samples + 2 * at, chunk, &taken));
            CHECK_OK(penstock_stream_pull_channels(filter, values, room, test_random(&seed) % 2, &count));
        }
        at += taken;
        made += count;
    }
    CHECK_OK(penstock_stream_finish(filter));
    do {
        void *values[CHANNELS];
        for (int c = 0; c < CHANNELS; c++)
            values[c] = got[c] + made;
        CHECK_OK(penstock_stream_pull_channels(filter, values, 1234, true, &count));
        made += count;
    } while (count);
    return made;
}

static void check(penstock_filter_desc desc, const penstock_filter_channel *channels)
{
    penstock_stream *filter = NULL;
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    desc.channels = channels;
    desc.channel_count = CHANNELS;
    desc.max_taps = MOST;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
    CHECK_OK(penstock_filter_get_info(filter, &info));
    CHECK_EQ(info.channels, CHANNELS);
    for (uint64_t round = 0; round < 4; round++) {
        bool change = round == 3;
        CHECK_OK(penstock_stream_reset(filter));
        if (change)
            CHECK_OK(penstock_filter_set_channel_taps(filter, 2, other, NULL, MOST, 7777));
        size_t made = run_together(filter, round);
        for (int c = 0; c < CHANNELS; c++) {
            CHECK_EQ(run_alone(desc, &channels[c], change && c == 2, alone[c]), made);
            CHECK(!memcmp(got[c], alone[c], made * sizeof got[c][0]), "channel %d of round %d differs", c, (int)round);
        }
    }
    CHECK_EQ(penstock_stream_pull(filter, got, 1, true, &(size_t){0}), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_pull_channels(filter, (void *[CHANNELS]){got[0]}, 1, true, &(size_t){0}),
             PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_filter_set_channel_taps(filter, CHANNELS, other, NULL, 1, SAMPLES), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(filter);
}

int main(int argc, char **argv)
{
    static const float real_taps[] = {0.1f, -0.5f, 0.25f};
    uint64_t seed = 1;
    if (argc > 1)
        device = argv[1];
    int exits = test_device(&context, device);
    if (exits)
        return exits;
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        samples[i] = (float)test_uniform(&seed);
    for (size_t k = 0; k < MOST; k++) {
        for (int c = 0; c < CHANNELS; c++)
            taps[c][k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        other[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    }
    const penstock_filter_channel channels[CHANNELS] = {{.taps = taps[0], .tap_count = MOST},
                                                        {.taps = taps[1], .tap_count = 31, .shift = 0.1234},
                                                        {.taps = taps[2], .tap_count = 55, .shift = -0.4, .phase = 0.3},
                                                        {.real_taps = real_taps, .tap_count = 3}};
    check(PENSTOCK_FILTER_DESC(.n = 512), channels);
    check(PENSTOCK_FILTER_DESC(.n = 1024, .decimation = 4), channels);
    if (argc == 1)
        check(PENSTOCK_FILTER_DESC(.n = 512, .decimation = 3, .interpolation = 2), channels);
    if (argc == 1)
        check(PENSTOCK_FILTER_DESC(.n = 1024, .max_latency = 5000), channels);
    penstock_stream *filter = NULL;
    CHECK_EQ(penstock_filter_open(
                 &filter, context,
                 &PENSTOCK_FILTER_DESC(.taps = other, .tap_count = 1, .channels = channels, .channel_count = CHANNELS),
                 device),
             PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_filter_open(&filter, context, &PENSTOCK_FILTER_DESC(.channel_count = 1), device),
             PENSTOCK_ERR_ARGUMENT);
    penstock_context_free(context);
    return test_finish();
}
