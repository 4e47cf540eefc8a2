/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream of transmitted frames, and whether a receiver found each of them. */
#ifndef PENSTOCK_TEST_WIFI_STREAM_H
#define PENSTOCK_TEST_WIFI_STREAM_H

#include "wifi_frames.h"

static const double wifi_rates_mbps[] = {6, 9, 12, 18, 24, 36, 48, 54};

/* A stream of frames of all rates, `gap` samples apart, at 30 dB. */
struct wifi_stream {
    penstock_cf32 *samples;
    size_t count, frames;
    size_t start[64], length[64];
    double mbps[64];
    uint8_t psdu[64][2048];
};

static inline void wifi_stream_free(struct wifi_stream *stream)
{
    free(stream->samples);
    free(stream);
}

static inline struct wifi_stream *wifi_make_stream(penstock_wifi_profile profile, size_t frames, int gap, uint64_t seed)
{
    struct wifi_stream *stream = calloc(1, sizeof *stream);
    double clock = penstock_wifi_rate_hz(profile) / 20e6;
    size_t at = 500, capacity = 2000 + frames * 40000;
    stream->samples = calloc(capacity, sizeof *stream->samples);
    for (size_t i = 0; i < frames; i++) {
        size_t length = 5 + test_random(&seed) % 1000, count;
        wifi_psdu(stream->psdu[i], length, &seed);
        stream->mbps[i] = wifi_rates_mbps[i % 8] * clock;
        stream->length[i] = length;
        stream->start[i] = at;
        penstock_wifi_transmit_desc desc =
            PENSTOCK_WIFI_TRANSMIT_DESC(.profile = profile, .mbps = stream->mbps[i],
                                        .scrambler_seed = 1 + (unsigned)(test_random(&seed) % 127));
        penstock_cf32 *frame = wifi_transmit(&desc, stream->psdu[i], length, 0, 0, &count);
        for (size_t k = 0; k < count; k++) {
            stream->samples[at + k].re += frame[k].re;
            stream->samples[at + k].im += frame[k].im;
        }
        free(frame);
        at = (size_t)((int64_t)(at + count - 1) + gap);
    }
    stream->frames = frames;
    stream->count = at + 500;
    wifi_add_noise(stream->samples, stream->count, 1e-3, &seed);
    return stream;
}

static inline penstock_stream *wifi_make_receiver(penstock_context *context, const penstock_wifi_receiver_desc *desc,
                                                  const char *device)
{
    penstock_stream *receiver = NULL;
    CHECK_OK(penstock_wifi_receiver_open(&receiver, context, desc, device));
    return receiver;
}

static inline void wifi_check_stream(const struct wifi_stream *stream, const struct wifi_frames *frames,
                                     const char *what)
{
    size_t good = 0;
    for (size_t i = 0; i < frames->count; i++) {
        const penstock_wifi_frame *frame = &frames->frame[i];
        CHECK(!i || frame->sample >= frames->frame[i - 1].sample, "%s: frames are not in order", what);
        if (!frame->fcs_ok || good >= stream->frames)
            continue;
        size_t k = good++;
        CHECK(llabs((long long)frame->sample - (long long)stream->start[k]) <= 1,
              "%s: frame %zu starts at %" PRIu64 ", not %zu", what, k, frame->sample, stream->start[k]);
        CHECK(frame->length == stream->length[k] && !memcmp(frame->psdu, stream->psdu[k], frame->length),
              "%s: octets of frame %zu", what, k);
        CHECK(frame->rate_mbps == stream->mbps[k], "%s: %g Mb/s", what, frame->rate_mbps);
        CHECK(frame->format == PENSTOCK_WIFI_LEGACY && frame->mcs == -1 && frame->decoded && !frame->reason,
              "%s: frame %zu", what, k);
        CHECK(fabs(frame->snr_db - 30) < 3 && frame->evm_db < -24, "%s: %.1f dB, error vector %.1f dB", what,
              frame->snr_db, frame->evm_db);
        CHECK(frame->raw_ber >= 0 && frame->raw_ber < 1e-3, "%s: raw bit error rate %g", what, frame->raw_ber);
    }
    CHECK(good == stream->frames, "%s: %zu of %zu frames", what, good, stream->frames);
    CHECK_EQ(frames->counters.fcs_ok, good);
    CHECK_EQ(frames->counters.samples, stream->count);
}

#endif
