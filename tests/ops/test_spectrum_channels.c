/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Spectra of several channels: frames that are pushed by channel, and descriptions that are refused. Their values are
 * among those of test_spectrum. */
#include "refused.h"

enum { N = 16, CHANNELS = 3, FRAMES = 500 };

/* By channel, in pieces: the bits of whole frames. */
static void check_pushes_by_channel(penstock_context *context)
{
    static float frames[FRAMES][CHANNELS][2], apart[CHANNELS][FRAMES][2], want[4000], got[4000];
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = N, .hop = 7, .output = PENSTOCK_OUTPUT_POWER, .channels = CHANNELS);
    penstock_stream *spectrum = NULL;
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    size_t taken, expected, count;
    uint64_t seed = 3;
    for (size_t f = 0; f < FRAMES; f++)
        for (size_t i = 0; i < 2 * CHANNELS; i++)
            apart[i / 2][f][i % 2] = frames[f][i / 2][i % 2] = (float)test_uniform(&seed);
    CHECK_OK(penstock_spectrum_open(&spectrum, context, &desc, "cpu"));
    CHECK_OK(penstock_stream_get_info(spectrum, &info));
    CHECK_EQ(info.in_channels, CHANNELS);
    CHECK_OK(penstock_stream_push(spectrum, frames, FRAMES, &taken));
    CHECK_EQ(taken, FRAMES);
    CHECK_OK(penstock_stream_finish(spectrum));
    CHECK_OK(penstock_stream_pull(spectrum, want, 80, true, &expected));
    CHECK_EQ(expected, (FRAMES - N) / 7 + 1);
    CHECK_OK(penstock_stream_reset(spectrum));
    for (size_t at = 0; at < FRAMES; at += taken) {
        const void *channels[CHANNELS];
        const size_t piece = test_random(&seed) % 90 + 1;
        for (size_t c = 0; c < CHANNELS; c++)
            channels[c] = apart[c] + at;
        CHECK_OK(penstock_stream_push_channels(spectrum, channels, piece < FRAMES - at ? piece : FRAMES - at, &taken));
        CHECK(taken > 0, "no room");
    }
    CHECK_OK(penstock_stream_finish(spectrum));
    CHECK_OK(penstock_stream_pull(spectrum, got, 80, true, &count));
    CHECK(count == expected && !memcmp(got, want, count * info.out_bytes), "by channel: %zu vectors, or others", count);
    penstock_stream_free(spectrum);
}

static void check_refusals(penstock_context *context)
{
    const struct {
        const char *text;
        penstock_spectrum_desc desc;
    } refused[] = {
        {"more than 8388608", PENSTOCK_SPECTRUM_DESC(.n = 1 << 12, .channels = (1 << 11) + 1)},
        {"format planar", PENSTOCK_SPECTRUM_DESC(.n = 64, .channels = 2, .format = PENSTOCK_PLANAR)},
        {"format f32", PENSTOCK_SPECTRUM_DESC(.n = 64, .channels = 2, .format = PENSTOCK_F32)},
        {"hop is up to n", PENSTOCK_SPECTRUM_DESC(.n = 64, .channels = 2, .hop = 65)},
        {"no flush_partial", PENSTOCK_SPECTRUM_DESC(.n = 64, .channels = 2, .flush_partial = true)},
        {"more than a batch",
         PENSTOCK_SPECTRUM_DESC(.n = 1024, .channels = 64, .average = 17, .output = PENSTOCK_OUTPUT_POWER)},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        penstock_stream *spectrum = NULL;
        CHECK_REFUSED(penstock_spectrum_open(&spectrum, context, &refused[i].desc, "cpu"), PENSTOCK_ERR_ARGUMENT,
                      refused[i].text);
    }
}

int main(void)
{
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, NULL));
    check_pushes_by_channel(context);
    check_refusals(context);
    penstock_context_free(context);
    return test_finish();
}
