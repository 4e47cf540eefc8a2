/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The filter bank against liquid-dsp's: firpfbch at critical sampling and firpfbch2 at twice the rate. Both number
 * their frames by the newest sample of a block. firpfbch2 divides by M and counts phase from a frame's newest sample
 * on, half a turn of the odd channels being made up for in each second frame.
 */
#include "test.h"

#include <complex.h>
#include <liquid/liquid.h>
#include <penstock/penstock.h>

#define PI           3.14159265358979323846
#define MOST         256
#define FRAMES       60
#define MOST_SAMPLES (MOST * FRAMES)

static penstock_context *context;
static float complex samples[MOST_SAMPLES], theirs[MOST_SAMPLES * 2];
static penstock_cf32 ours[MOST_SAMPLES * 2];
static float taps[MOST * 16];

static int channelize(size_t channels, size_t hop, size_t tap_count)
{
    penstock_stream *channelizer = NULL;
    size_t count = 0;
    int status = penstock_channelizer_open(&channelizer, context,
                                           &PENSTOCK_CHANNELIZER_DESC(.channels = channels, .hop = hop, .taps = taps,
                                                                      .tap_count = tap_count, .advance = hop - 1),
                                           "cpu");
    if (!status)
        status = penstock_stream_push(channelizer, samples, hop * FRAMES, &(size_t){0});
    if (!status)
        status = penstock_stream_pull(channelizer, ours, FRAMES, true, &count);
    CHECK_EQ(count, FRAMES);
    penstock_stream_free(channelizer);
    return status;
}

static void compare(const char *name, size_t channels)
{
    double difference = 0, power = 0;
    for (size_t i = 0; i < channels * FRAMES; i++) {
        double re = (double)crealf(theirs[i]), im = (double)cimagf(theirs[i]);
        difference += pow((double)ours[i].re - re, 2) + pow((double)ours[i].im - im, 2);
        power += re * re + im * im;
    }
    double error = sqrt(difference / power);
    CHECK(error < 2e-6, "%s, %zu channels: differ by %.3g", name, channels, error);
}

static void check_critical(size_t channels, size_t depth)
{
    firpfbch_crcf bank = firpfbch_crcf_create(LIQUID_ANALYZER, (unsigned)channels, (unsigned)depth, taps);
    for (size_t m = 0; m < FRAMES; m++)
        firpfbch_crcf_analyzer_execute(bank, samples + m * channels, theirs + m * channels);
    firpfbch_crcf_destroy(bank);
    CHECK_OK(channelize(channels, channels, channels * depth));
    compare("firpfbch", channels);
}

static void check_twice(size_t channels, size_t depth)
{
    size_t hop = channels / 2;
    firpfbch2_crcf bank = firpfbch2_crcf_create(LIQUID_ANALYZER, (unsigned)channels, (unsigned)(depth / 2), taps);
    for (size_t m = 0; m < FRAMES; m++)
        firpfbch2_crcf_execute(bank, samples + m * hop, theirs + m * channels);
    firpfbch2_crcf_destroy(bank);
    for (size_t i = 0; i < channels * FRAMES; i++) {
        double angle = -2 * PI * (double)(i % channels) * (double)(hop - 1) / (double)channels;
        theirs[i] *= (float)channels * cexpf(I * (float)remainder(angle, 2 * PI));
    }
    CHECK_OK(channelize(channels, hop, channels * depth));
    compare("firpfbch2", channels);
}

int main(void)
{
    uint64_t seed = 5;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < MOST_SAMPLES; i++)
        samples[i] = (float)test_uniform(&seed) + I * (float)test_uniform(&seed);
    for (size_t i = 0; i < MOST * 16; i++)
        taps[i] = (float)test_uniform(&seed);
    for (size_t channels = 2; channels <= MOST; channels = channels < 20 ? channels + 1 : 2 * channels)
        check_critical(channels, 2 + channels % 14);
    for (size_t channels = 2; channels <= MOST; channels = channels < 20 ? channels + 2 : 2 * channels)
        check_twice(channels, 2 * (1 + channels % 7));
    penstock_context_free(context);
    return test_finish();
}
