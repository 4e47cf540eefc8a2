/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Time of copies and kernels in the stats of every operator that has a stream, on one device: finite, not 0 where there
 * are any, and forgotten by a reset.
 * Usage: test_stream_times [DEVICE [copies [OPERATOR]]]; `copies`: the device has memory of its own.
 */
#include "wifi_stream.h"

#define SAMPLES 200000
#define N       256
#define MOST    (2 * SAMPLES)

static penstock_cf32 samples[SAMPLES];
static char values[MOST * sizeof(penstock_cf32)];
static const float real_taps[] = {1, 2, 3, 2, 1};
static penstock_context *context;
static struct wifi_stream *air;

/* An operator's stream: made, run to its end, asked, begun anew. */
struct stream {
    const char *name;
    int (*make)(penstock_stream **stream, const char *device);
    void (*run)(penstock_stream *stream);
};

/* ---------------------------------------------------------------- FFT ------------------------- */

static int make_fft(penstock_stream **stream, const char *device)
{
    return penstock_fft_stream_open(stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = N), device);
}

static void run_fft(penstock_stream *stream)
{
    size_t taken, given, count = SAMPLES / N;
    for (size_t at = 0; at < count; at += taken) {
        CHECK_OK(penstock_stream_push(stream, samples + at * N, count - at, &taken));
        CHECK_OK(penstock_stream_pull(stream, (void *)values, count, true, &given));
    }
    CHECK_OK(penstock_stream_finish(stream));
    do {
        CHECK_OK(penstock_stream_pull(stream, (void *)values, count, true, &given));
    } while (given);
}

/* ---------------------------------------------------------------- spectrum -------------------- */

static int make_spectrum(penstock_stream **stream, const char *device)
{
    return penstock_spectrum_open(
        stream, context,
        &PENSTOCK_SPECTRUM_DESC(.n = N, .hop = N / 2, .average = 4, .window = "hann", .output = PENSTOCK_OUTPUT_POWER),
        device);
}

static void run_spectrum(penstock_stream *stream)
{
    size_t taken, given;
    for (size_t at = 0; at < SAMPLES; at += taken) {
        CHECK_OK(penstock_stream_push(stream, samples + at, SAMPLES - at, &taken));
        CHECK_OK(penstock_stream_pull(stream, values, SAMPLES / N, true, &given));
    }
    CHECK_OK(penstock_stream_finish(stream));
    do {
        CHECK_OK(penstock_stream_pull(stream, values, SAMPLES / N, true, &given));
    } while (given);
}

/* ---------------------------------------------------------------- filter ---------------------- */

static int make_filter(penstock_stream **stream, const char *device)
{
    return penstock_filter_open(stream, context, &PENSTOCK_FILTER_DESC(.real_taps = real_taps, .tap_count = 5, .n = N),
                                device);
}

/* By transforms and a product on the CPU, wherever it runs. */
static int make_resampler(penstock_stream **stream, const char *device)
{
    return penstock_filter_open(
        stream, context, &PENSTOCK_FILTER_DESC(.real_taps = real_taps, .tap_count = 5, .n = N, .interpolation = 2),
        device);
}

static void run_filter(penstock_stream *stream)
{
    size_t taken, given;
    for (size_t at = 0; at < SAMPLES; at += taken) {
        CHECK_OK(penstock_stream_push(stream, samples + at, SAMPLES - at, &taken));
        CHECK_OK(penstock_stream_pull(stream, values, MOST, true, &given));
    }
    CHECK_OK(penstock_stream_finish(stream));
    do {
        CHECK_OK(penstock_stream_pull(stream, values, MOST, true, &given));
    } while (given);
}

/* ---------------------------------------------------------------- channelizer ----------------- */

static int make_channelizer(penstock_stream **stream, const char *device)
{
    return penstock_channelizer_open(stream, context, &PENSTOCK_CHANNELIZER_DESC(.channels = 16), device);
}

static void run_channelizer(penstock_stream *stream)
{
    size_t taken, given;
    for (size_t at = 0; at < SAMPLES; at += taken) {
        CHECK_OK(penstock_stream_push(stream, samples + at, SAMPLES - at, &taken));
        CHECK_OK(penstock_stream_pull(stream, (void *)values, SAMPLES / 16, true, &given));
    }
    CHECK_OK(penstock_stream_finish(stream));
    do {
        CHECK_OK(penstock_stream_pull(stream, (void *)values, SAMPLES / 16, true, &given));
    } while (given);
}

/* ---------------------------------------------------------------- OFDM ------------------------ */

static int make_ofdm(penstock_stream **stream, const char *device)
{
    static int32_t carriers[48];
    static penstock_cf32 training[64];
    for (int i = 0; i < 48; i++)
        carriers[i] = i < 24 ? i - 24 : i - 23;
    for (int i = 0; i < 64; i++)
        training[i] = (penstock_cf32){i % 3 ? 1 : -1, 0};
    return penstock_ofdm_stream_open(stream, context,
                                     &PENSTOCK_OFDM_STREAM_DESC(.n = 64, .guard = 16, .carriers = carriers,
                                                                .carrier_count = 48, .training = training,
                                                                .training_symbols = 1),
                                     device);
}

static void run_ofdm(penstock_stream *stream)
{
    penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
    for (size_t at = 0; at < SAMPLES; at += 80 * 25) {
        CHECK_OK(penstock_ofdm_stream_frame(stream, at, 24, 0));
        CHECK_OK(penstock_stream_push(stream, samples + at, 80 * 25, NULL));
        while (penstock_ofdm_stream_pull(stream, &result) > 0)
            ;
    }
}

/* ---------------------------------------------------------------- Wi-Fi ----------------------- */

static int make_wifi(penstock_stream **stream, const char *device)
{
    return penstock_wifi_receiver_open(stream, context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = true), device);
}

static void run_wifi(penstock_stream *stream)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    size_t good = 0;
    CHECK_OK(penstock_stream_push(stream, air->samples, air->count, NULL));
    CHECK_OK(penstock_stream_finish(stream));
    while (penstock_wifi_receiver_pull(stream, &frame) > 0)
        good += frame.fcs_ok;
    CHECK_EQ(good, air->frames);
}

/* ---------------------------------------------------------------- the table ------------------- */

static const struct stream streams[] = {
    {"FFT", make_fft, run_fft},
    {"spectrum", make_spectrum, run_spectrum},
    {"filter", make_filter, run_filter},
    {"filter, interpolating", make_resampler, run_filter},
    {"channelizer", make_channelizer, run_channelizer},
    {"OFDM", make_ofdm, run_ofdm},
    {"Wi-Fi", make_wifi, run_wifi},
};

static void check_times(const struct stream *kind, penstock_stream *stream, bool copies)
{
    penstock_stream_stats s = PENSTOCK_STREAM_STATS;
    kind->run(stream);
    CHECK_OK(penstock_stream_get_stats(stream, &s));
    printf("%-22s batch of %8.1f: copies %8.4f ms, kernels %8.4f ms\n", kind->name, s.batch, 1e3 * s.transfer_s,
           1e3 * s.kernel_s);
    CHECK(s.batch > 0 && s.out > 0, "%s: nothing was done", kind->name);
    CHECK(isfinite(s.kernel_s) && s.kernel_s > 0, "%s: kernels take %g s", kind->name, s.kernel_s);
    CHECK(copies ? isfinite(s.transfer_s) && s.transfer_s > 0 : s.transfer_s == 0, "%s: copies take %g s", kind->name,
          s.transfer_s);
    CHECK_EQ(s.fallbacks, 0);
}

static int check_stream(const struct stream *kind, const char *device, bool copies)
{
    penstock_stream_stats s = PENSTOCK_STREAM_STATS;
    penstock_stream *stream = NULL;
    int status = kind->make(&stream, device);
    if (status)
        return status;
    check_times(kind, stream, copies);
    CHECK_OK(penstock_stream_reset(stream));
    CHECK_OK(penstock_stream_get_stats(stream, &s));
    CHECK(s.kernel_s == 0 && s.transfer_s == 0 && s.batch == 0, "%s: a reset leaves times", kind->name);
    check_times(kind, stream, copies);
    penstock_stream_free(stream);
    return PENSTOCK_OK;
}

int main(int count, char **arguments)
{
    const char *device = count > 1 ? arguments[1] : "cpu", *only = count > 3 ? arguments[3] : NULL;
    uint64_t seed = 1;
    int run = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    CHECK_OK(penstock_context_new(&context, NULL));
    air = wifi_make_stream(PENSTOCK_WIFI, 12, 100, 3);
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        if (only && strcmp(only, streams[i].name))
            continue;
        int status = check_stream(&streams[i], device, count > 2);
        if (status == PENSTOCK_ERR_NO_DEVICE)
            return test_skip(penstock_error_text());
        CHECK_OK(status);
        run++;
    }
    CHECK_EQ(run, only ? 1 : 7);
    wifi_stream_free(air);
    penstock_context_free(context);
    return test_finish();
}
