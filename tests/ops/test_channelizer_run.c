/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Large pushes through the filter bank with a pull in the same call, on several threads, of which none copies samples
 * for another: the bits of small pushes and pulls on one thread, whatever the format, selection, sizes and rooms, and
 * with other taps in mid-stream.
 */
#include "test.h"

#include <penstock/penstock.h>

#define SAMPLES  200000
#define CHANGE   90000
#define MOST     100000 /* of a push */
#define THREADS  3
#define CHANNELS 60
#define TAPS     700

static float taps[2][TAPS];
static int16_t integers[2 * SAMPLES];
static penstock_cf32 floats[SAMPLES];
static const size_t selected[] = {7, 59, 0, 3};

struct variant {
    size_t hop;
    penstock_format format;
    bool selects, by_channel, changes;
};

static const struct variant variants[] = {
    {60, PENSTOCK_CF32, false, false, false}, {60, PENSTOCK_CF32, false, true, false},
    {45, PENSTOCK_CF32, true, false, true},   {60, PENSTOCK_CS16, false, false, true},
    {17, PENSTOCK_CS16, true, true, false},
};

struct pass {
    penstock_stream *stream;
    penstock_stream_info info;
    char *out; /* by item, or by channel: `room` frames of each */
    size_t room, made;
};

static void pass_open(struct pass *pass, penstock_context *context, const struct variant *variant)
{
    *pass = (struct pass){.info = PENSTOCK_STREAM_INFO, .room = SAMPLES / variant->hop + 1};
    CHECK_OK(
        penstock_channelizer_open(&pass->stream, context,
                                  &PENSTOCK_CHANNELIZER_DESC(.channels = CHANNELS, .hop = variant->hop, .taps = taps[0],
                                                             .tap_count = TAPS, .format = variant->format, .advance = 5,
                                                             .select = variant->selects ? selected : NULL,
                                                             .select_count = variant->selects ? 4 : 0),
                                  "cpu"));
    CHECK_OK(penstock_stream_get_info(pass->stream, &pass->info));
    pass->out = calloc(pass->room, pass->info.out_bytes);
    if (variant->changes)
        CHECK_OK(penstock_channelizer_set_taps(pass->stream, taps[1], TAPS, CHANGE, NULL));
}

static void *const *rows(const struct pass *pass)
{
    static void *to[CHANNELS];
    const size_t channels = pass->info.out_channels, value = pass->info.out_bytes / channels;
    for (size_t c = 0; c < channels; c++)
        to[c] = pass->out + (c * pass->room + pass->made) * value;
    return to;
}

static char *end(const struct pass *pass)
{
    return pass->out + pass->made * pass->info.out_bytes;
}

static void pull(struct pass *pass, const struct variant *variant)
{
    const size_t room = pass->room - pass->made;
    size_t given = 0;
    CHECK_OK(variant->by_channel ? penstock_stream_pull_channels(pass->stream, rows(pass), room, true, &given)
                                 : penstock_stream_pull(pass->stream, end(pass), room, true, &given));
    pass->made += given;
}

/* In memory that ends where the samples do. */
static size_t run(struct pass *pass, const struct variant *variant, const char *from, size_t count, size_t room)
{
    size_t taken = 0, given = 0, bytes = count * pass->info.in_bytes;
    char *samples = malloc(bytes);
    memcpy(samples, from, bytes);
    CHECK_OK(variant->by_channel
                 ? penstock_stream_run_channels(pass->stream, samples, count, &taken, rows(pass), room, &given)
                 : penstock_stream_run(pass->stream, samples, count, &taken, end(pass), room, &given));
    free(samples);
    CHECK(taken <= count && given <= room, "%zu of %zu samples, %zu of %zu frames", taken, count, given, room);
    pass->made += given;
    return taken;
}

static void pass_all(struct pass *pass, const struct variant *variant, uint64_t seed)
{
    const char *from = variant->format == PENSTOCK_CF32 ? (const char *)floats : (const char *)integers;
    for (size_t at = 0, taken; at < SAMPLES; at += taken, from += taken * pass->info.in_bytes) {
        size_t most = seed ? MOST : 999, count = 1 + (size_t)(test_random(&(uint64_t){seed + at + 1}) % most);
        size_t left = pass->room - pass->made;
        count = count < SAMPLES - at ? count : SAMPLES - at;
        if (seed) {
            taken = run(pass, variant, from, count, test_random(&(uint64_t){seed + at}) % 4 ? left : left / 3);
        } else {
            CHECK_OK(penstock_stream_push(pass->stream, from, count, &taken));
            pull(pass, variant);
        }
    }
    CHECK_OK(penstock_stream_finish(pass->stream));
    pull(pass, variant);
}

static void check(penstock_context *one, penstock_context *several, const struct variant *variant)
{
    struct pass good, got;
    pass_open(&good, one, variant);
    pass_all(&good, variant, 0);
    for (uint64_t seed = 1; seed < 9; seed++) {
        pass_open(&got, several, variant);
        pass_all(&got, variant, seed);
        CHECK_EQ(got.made, good.made);
        CHECK(!memcmp(got.out, good.out, good.room * good.info.out_bytes), "hop %zu, seed %d: other bits", variant->hop,
              (int)seed);
        penstock_stream_free(got.stream);
        free(got.out);
    }
    penstock_stream_free(good.stream);
    free(good.out);
}

int main(void)
{
    penstock_context *one, *several;
    uint64_t seed = 1;
    for (size_t i = 0; i < 2 * TAPS; i++)
        taps[i % 2][i / 2] = (float)test_uniform(&seed);
    for (size_t i = 0; i < SAMPLES; i++)
        floats[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        integers[i] = (int16_t)test_random(&seed);
    CHECK_OK(penstock_context_new(&one, &PENSTOCK_CONTEXT_DESC(.threads = 1)));
    CHECK_OK(penstock_context_new(&several, &PENSTOCK_CONTEXT_DESC(.threads = THREADS)));
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        check(one, several, &variants[i]);
    penstock_context_free(one);
    penstock_context_free(several);
    return test_finish();
}
