/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What a channel and two unequal clocks do to a frame: carrier and clock offset, DC, echoes. The limits are where the
 * packet error rate without the impairment is well below 10 %, plus the 0.3 dB that it may cost.
 */
#include "wifi_frames.h"

static bool full;
static penstock_context *context;
static penstock_stream *receiver;

struct counts {
    size_t sent, good;
    double cfo_error, sfo_error; /* largest */
};

/* Frames of `length` octets through the channel, each with its own noise, octets and echo phase. */
static struct counts send(double mbps, size_t length, size_t frames, const penstock_channel_desc *through)
{
    static struct wifi_frames found;
    struct counts counts = {.sent = frames};
    static uint8_t psdu[4095];
    uint64_t state = (uint64_t)(mbps * 1e3) + length;
    for (size_t i = 0; i < frames; i++) {
        penstock_channel_desc desc = *through;
        penstock_path paths[2];
        penstock_channel *channel = NULL;
        size_t count, capacity, taken, received = 0, tail = 0;
        if (through->path_count == 2) {
            paths[0] = through->paths[0];
            paths[1] = through->paths[1];
            paths[1].phase = 3.14159 * test_uniform(&state);
            desc.paths = paths;
        }
        desc.seed = test_random(&state);
        wifi_psdu(psdu, length, &state);
        penstock_cf32 *sent =
            wifi_transmit(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = mbps, .scrambler_seed = 1 + (unsigned)i % 127), psdu,
                          length, 700 + i % 80, 1200, &count);
        capacity = count + 4096;
        penstock_cf32 *stream = calloc(capacity, sizeof *stream);
        CHECK_OK(penstock_channel_new(&channel, &desc));
        CHECK_OK(penstock_channel_run(channel, sent, count, &taken, stream, capacity, &received));
        CHECK_EQ(taken, count);
        CHECK_OK(penstock_channel_run(channel, NULL, 0, &taken, stream + received, capacity - received, &tail));
        CHECK_OK(penstock_stream_reset(receiver));
        wifi_frames_receive(&found, receiver, PENSTOCK_CF32, stream, received + tail, 0);
        for (size_t k = 0; k < found.count; k++) {
            const penstock_wifi_frame *frame = &found.frame[k];
            if (!frame->fcs_ok || frame->length != length || memcmp(frame->psdu, psdu, length) != 0)
                continue;
            counts.good++;
            counts.cfo_error = fmax(counts.cfo_error, fabs(frame->cfo_hz - desc.cfo_hz));
            counts.sfo_error = fmax(counts.sfo_error, fabs(frame->sfo_ppm - desc.sfo_ppm));
        }
        wifi_frames_free(&found);
        penstock_channel_free(channel);
        free(stream);
        free(sent);
    }
    return counts;
}

static double noise_of(double snr_db)
{
    return pow(10, -snr_db / 10);
}

static void test_carrier_offset(void)
{
    static const double offsets[] = {-200e3, -156.25e3, -60e3, 0, 100e3, 200e3};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        penstock_channel_desc desc =
            PENSTOCK_CHANNEL_DESC(.rate_hz = 20e6, .cfo_hz = offsets[i], .noise_power = noise_of(0.8));
        struct counts counts = send(6, 138, full ? 400 : 40, &desc);
        CHECK(counts.good * 10 >= counts.sent * 9, "%.0f Hz: %zu of %zu at 6 Mb/s", offsets[i], counts.good,
              counts.sent);
        CHECK(counts.cfo_error < 3000, "%.0f Hz: estimate wrong by %.0f Hz", offsets[i], counts.cfo_error);
        desc.noise_power = noise_of(18);
        counts = send(54, 138, full ? 400 : 40, &desc);
        CHECK(counts.good * 10 >= counts.sent * 9, "%.0f Hz: %zu of %zu at 54 Mb/s", offsets[i], counts.good,
              counts.sent);
        printf("%.0f Hz: held\n", offsets[i]);
    }
}

static void test_clock_offset(void)
{
    static const double offsets[] = {-40, 0, 40};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        penstock_channel_desc desc =
            PENSTOCK_CHANNEL_DESC(.rate_hz = 20e6, .sfo_ppm = offsets[i], .cfo_hz = 20e3, .noise_power = noise_of(1.8));
        struct counts counts = send(6, 4095, full ? 100 : 12, &desc);
        CHECK(counts.good * 10 >= counts.sent * 9, "%g ppm: %zu of %zu long frames", offsets[i], counts.good,
              counts.sent);
        CHECK(counts.sfo_error < 1.5, "%g ppm: estimate wrong by %.2f", offsets[i], counts.sfo_error);
        desc.noise_power = noise_of(20);
        counts = send(54, 1500, full ? 100 : 12, &desc);
        CHECK(counts.good * 10 >= counts.sent * 9, "%g ppm: %zu of %zu at 54 Mb/s", offsets[i], counts.good,
              counts.sent);
        printf("%g ppm: held\n", offsets[i]);
    }
}

static void test_dc(void)
{
    penstock_channel_desc desc = PENSTOCK_CHANNEL_DESC(.rate_hz = 20e6, .dc_re = 0.8, .dc_im = -0.6);
    static const double offsets[] = {0, 78e3, 156.25e3};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        desc.cfo_hz = offsets[i];
        desc.noise_power = noise_of(1);
        struct counts counts = send(6, 138, full ? 400 : 30, &desc);
        CHECK(counts.good * 10 >= counts.sent * 9, "DC and %.0f Hz: %zu of %zu", offsets[i], counts.good, counts.sent);
        desc.noise_power = noise_of(22);
        counts = send(54, 500, full ? 400 : 20, &desc);
        CHECK(counts.good * 10 >= counts.sent * 9, "DC and %.0f Hz: %zu of %zu", offsets[i], counts.good, counts.sent);
    }
}

static void test_echoes(void)
{
    static const double rates[] = {6, 9, 12, 18, 24};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        struct counts all = {0};
        for (int ns = 50; ns <= 600; ns += 50) {
            penstock_path paths[2] = {{0, -3.01, 0}, {ns * 1e-9, -3.01, 0}};
            penstock_channel_desc desc =
                PENSTOCK_CHANNEL_DESC(.rate_hz = 20e6, .paths = paths, .path_count = 2, .noise_power = noise_of(30));
            struct counts counts = send(rates[r], 138, full ? 100 : 10, &desc);
            all.sent += counts.sent;
            all.good += counts.good;
        }
        CHECK(all.good * 100 >= all.sent * 99, "%g Mb/s: %zu of %zu", rates[r], all.good, all.sent);
        printf("%g Mb/s with an equal echo after 50 to 600 ns: %zu of %zu\n", rates[r], all.good, all.sent);
    }
}

int main(void)
{
    const char *mode = getenv("PENSTOCK_TEST_FULL");
    full = mode && *mode == '1';
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_OK(
        penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 5e-4), "cpu"));
    test_carrier_offset();
    test_clock_offset();
    test_dc();
    test_echoes();
    penstock_stream_free(receiver);
    penstock_context_free(context);
    return test_finish();
}
