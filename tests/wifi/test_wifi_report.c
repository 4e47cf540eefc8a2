/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The channel that the receiver reports with a frame, against the paths that the signal took; and another limit of the
 * latency in mid-stream: the same frames, and in time. */
#include "wifi_frames.h"

#define LENGTH 300
#define GAP    2000
#define FRAMES 12

static penstock_context *context;

/* Two paths three samples apart. Carriers of the transmitter have 64 / sqrt(52) on a bin: 52 of them make power one. */
static void check_channel(double level, penstock_format format)
{
    static const int used = 26, delay = 3;
    const double pi = 3.14159265358979323846, gain = 0.5, phase = 1.1;
    penstock_stream *receiver = NULL;
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    uint64_t state = 4;
    size_t count;
    uint8_t psdu[LENGTH];
    wifi_psdu(psdu, LENGTH, &state);
    penstock_cf32 *sent = wifi_transmit(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 24), psdu, LENGTH, 500, GAP, &count);
    penstock_cf32 *stream = calloc(count, sizeof *stream);
    int16_t *integers = calloc(2 * count, sizeof *integers);
    for (size_t i = 0; i < count; i++) {
        penstock_cf32 late = i < (size_t)delay ? (penstock_cf32){0, 0} : sent[i - (size_t)delay];
        double c = gain * cos(phase), s = gain * sin(phase);
        double re = sent[i].re + c * late.re - s * late.im, im = sent[i].im + c * late.im + s * late.re;
        stream[i] = (penstock_cf32){(float)(level * re), (float)(level * im)};
        integers[2 * i] = (int16_t)lrint(level * re * 32768);
        integers[2 * i + 1] = (int16_t)lrint(level * im * 32768);
    }
    CHECK_OK(penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.format = format), "cpu"));
    CHECK_OK(penstock_stream_push(receiver, format == PENSTOCK_CF32 ? (const void *)stream : (const void *)integers,
                                  count, NULL));
    CHECK_OK(penstock_stream_finish(receiver));
    CHECK_EQ(penstock_wifi_receiver_pull(receiver, &frame), 1);
    CHECK(frame.fcs_ok && frame.channel, "no channel");
    for (int k = -32; k < 32 && frame.channel; k++) {
        bool used_carrier = k && abs(k) <= used;
        double angle = phase - 2 * pi * k * delay / PENSTOCK_WIFI_BINS, unit = level * 64 / sqrt(52);
        double re = used_carrier ? unit * (1 + gain * cos(angle)) : 0;
        double im = used_carrier ? unit * gain * sin(angle) : 0;
        penstock_cf32 got = frame.channel[k & 63];
        CHECK(hypot(got.re - re, got.im - im) < 0.02 * unit, "level %g, carrier %d: %g %g, expected %g %g", level, k,
              (double)got.re, (double)got.im, re, im);
    }
    penstock_stream_free(receiver);
    free(integers);
    free(stream);
    free(sent);
}

static penstock_cf32 *make_stream(size_t *total)
{
    penstock_cf32 *stream = NULL;
    uint64_t state = 9;
    *total = 0;
    for (int i = 0; i < FRAMES; i++) {
        uint8_t psdu[LENGTH];
        size_t count;
        wifi_psdu(psdu, LENGTH, &state);
        penstock_cf32 *sent = wifi_transmit(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 12), psdu, LENGTH, 100, GAP, &count);
        stream = realloc(stream, (*total + count) * sizeof *stream);
        memcpy(stream + *total, sent, count * sizeof *stream);
        *total += count;
        free(sent);
    }
    return stream;
}

static void check_latency(void)
{
    static const double limits_s[] = {5e-5, 0, 1e-4, 2e-5, 1e-3};
    static struct wifi_frames all, changed;
    penstock_stream *receiver = NULL;
    size_t total;
    penstock_cf32 *stream = make_stream(&total);
    uint64_t state = 2;
    CHECK_OK(
        penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.format = PENSTOCK_CF32), "cpu"));
    wifi_frames_receive(&all, receiver, PENSTOCK_CF32, stream, total, 0);
    CHECK_EQ(wifi_frames_good(&all), FRAMES);
    CHECK_OK(penstock_stream_reset(receiver));
    for (size_t done = 0, i = 0; done < total; i++) {
        size_t part = (size_t)(test_random(&state) % 7000) + 1;
        double limit_s = limits_s[i % 5];
        CHECK_OK(penstock_stream_set_max_latency(receiver, limit_s));
        part = part < total - done ? part : total - done;
        CHECK_OK(penstock_stream_push(receiver, stream + done, part, NULL));
        wifi_frames_pull(&changed, receiver);
        done += part;
        for (size_t k = changed.count; k < all.count && limit_s > 0; k++) {
            size_t end = (size_t)(all.frame[k].sample + all.frame[k].samples),
                   since = end > done - part ? end : done - part;
            CHECK(since + (size_t)(limit_s * 20e6) > done, "frame %zu is not there %zu samples after its end", k,
                  done - end);
        }
    }
    CHECK_OK(penstock_stream_finish(receiver));
    wifi_frames_pull(&changed, receiver);
    changed.counters = all.counters;
    CHECK(wifi_frames_equal(&all, &changed), "other frames");
    CHECK_EQ(penstock_stream_set_max_latency(receiver, -1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_set_max_latency(receiver, NAN), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_set_max_latency(NULL, 1), PENSTOCK_ERR_ARGUMENT);
    wifi_frames_free(&all);
    wifi_frames_free(&changed);
    penstock_stream_free(receiver);
    free(stream);
}

int main(void)
{
    CHECK_OK(penstock_context_new(&context, NULL));
    check_channel(1, PENSTOCK_CF32);
    check_channel(0.003, PENSTOCK_CF32);
    check_channel(0.1, PENSTOCK_CS16);
    check_latency();
    penstock_context_free(context);
    return test_finish();
}
