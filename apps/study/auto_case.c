/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Work for a device as programs give it: calls of one size, one after the other. */
#include "auto_case.h"
#include "cases/air.h"
#include "cases/signals.h"

#include <stdlib.h>
#include <string.h>

/* Noise of an ordinary size at the input, and room at the output. */
static int make_room(struct auto_work *work, penstock_format format, size_t samples, size_t out_bytes)
{
    uint64_t seed = 1;
    work->samples = samples;
    work->in = aligned_alloc(64, (samples * sizeof(penstock_cf32) + 63) / 64 * 64);
    work->out = aligned_alloc(64, (out_bytes + 63) / 64 * 64);
    if (!work->in || !work->out)
        return PENSTOCK_ERR_MEMORY;
    signal_random(work->in, format, samples, &seed);
    memset(work->out, 0, out_bytes);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- plans ----------------------- */

static int run_plan(struct auto_work *work)
{
    return penstock_plan_run(work->plan, work->in, work->out, work->count);
}

static int open_fft(struct auto_work *work, size_t n, size_t frames)
{
    int status = make_room(work, PENSTOCK_CF32, n * frames, n * frames * sizeof(penstock_cf32));
    work->count = frames;
    return status ? status
                  : penstock_fft_plan(&work->plan, work->context, &PENSTOCK_FFT_DESC(.n = n, .batch = frames),
                                      work->device);
}

static int open_power(struct auto_work *work, size_t n, size_t frames)
{
    penstock_fft_desc desc = PENSTOCK_FFT_DESC(.n = n, .batch = frames, .load = {.format = PENSTOCK_CS16},
                                               .store = {.output = PENSTOCK_OUTPUT_POWER, .average = 16});
    int status = make_room(work, PENSTOCK_CS16, n * frames, n * frames / 16 * sizeof(float));
    work->count = frames;
    return status ? status : penstock_fft_plan(&work->plan, work->context, &desc, work->device);
}

static int open_viterbi(struct auto_work *work, size_t bits, size_t blocks)
{
    penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = bits, .batch = blocks);
    size_t sent = 0;
    int status = penstock_viterbi_code(&desc, "wifi:1/2");
    desc.bits = bits;
    desc.batch = blocks;
    if (status || (status = penstock_viterbi_sent(&sent, &desc)) ||
        (status = make_room(work, PENSTOCK_CS8, blocks * sent, blocks * bits)))
        return status;
    work->count = blocks;
    return penstock_viterbi_plan(&work->plan, work->context, &desc, work->device);
}

/* ---------------------------------------------------------------- OFDM ------------------------ */

enum { OFDM_N = 2048, OFDM_GUARD = 144, OFDM_CARRIERS = 1200 };

static int run_ofdm(struct auto_work *work)
{
    const penstock_ofdm_frame frame = {
        .channel = work->channel, .noise = 0.1f, .constellation = PENSTOCK_QAM16, .llr_scale = 1};
    return penstock_ofdm_run(work->ofdm,
                             &PENSTOCK_OFDM_BATCH(.samples = work->in, .sample_count = work->samples, .frames = &frame,
                                                  .frame_count = 1, .symbols = work->symbols,
                                                  .symbol_count = work->count),
                             &PENSTOCK_OFDM_RESULT(.soft = work->out));
}

static int open_ofdm(struct auto_work *work, size_t unused, size_t symbols)
{
    int32_t carriers[OFDM_CARRIERS];
    (void)unused;
    for (int i = 0; i < OFDM_CARRIERS; i++)
        carriers[i] = i < OFDM_CARRIERS / 2 ? i - OFDM_CARRIERS / 2 : i - OFDM_CARRIERS / 2 + 1;
    int status = make_room(work, PENSTOCK_CF32, symbols * (OFDM_N + OFDM_GUARD), symbols * OFDM_CARRIERS * 4);
    work->count = symbols;
    work->channel = calloc(OFDM_N, sizeof *work->channel);
    work->symbols = calloc(symbols, sizeof *work->symbols);
    if (status || !work->channel || !work->symbols)
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < OFDM_N; i++)
        work->channel[i] = (penstock_cf32){1, 0};
    for (size_t i = 0; i < symbols; i++)
        work->symbols[i].start = i * (OFDM_N + OFDM_GUARD);
    return penstock_ofdm_new(&work->ofdm, work->context,
                             &PENSTOCK_OFDM_DESC(.n = OFDM_N, .guard = OFDM_GUARD, .carriers = carriers,
                                                 .carrier_count = OFDM_CARRIERS, .batch = symbols,
                                                 .max_constellation = PENSTOCK_QAM16),
                             work->device);
}

/* ---------------------------------------------------------------- streams --------------------- */

static int run_stream(struct auto_work *work)
{
    size_t at = 0, taken, given;
    int status = PENSTOCK_OK;
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    if ((status = penstock_stream_get_info(work->stream, &info)))
        return status;
    do {
        status =
            penstock_stream_push(work->stream, (const char *)work->in + at * info.in_bytes, work->count - at, &taken);
        at += taken;
        do {
            if (!status)
                status = penstock_stream_pull(work->stream, work->out, work->results, false, &given);
        } while (!status && given);
    } while (!status && at < work->count);
    return status;
}

/* After the stream was opened: room for pushes of `count` items of `item` samples and for as many values. */
static int make_stream_room(struct auto_work *work, size_t count, size_t item)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    int status = penstock_stream_get_info(work->stream, &info);
    if (status)
        return status;
    work->count = count;
    work->results = count * item * sizeof(penstock_cf32) / info.out_bytes + 1;
    return make_room(work, PENSTOCK_CF32, count * item, work->results * info.out_bytes);
}

static int open_spectrum(struct auto_work *work, size_t n, size_t count)
{
    penstock_spectrum_desc desc = PENSTOCK_SPECTRUM_DESC(.n = n, .window = "hann", .output = PENSTOCK_OUTPUT_POWER);
    int status = penstock_spectrum_open(&work->stream, work->context, &desc, work->device);
    return status ? status : make_stream_room(work, count, 1);
}

static int open_fft_stream(struct auto_work *work, size_t n, size_t count)
{
    int status =
        penstock_fft_stream_open(&work->stream, work->context, &PENSTOCK_FFT_STREAM_DESC(.n = n), work->device);
    return status ? status : make_stream_room(work, count, n);
}

static int open_filter_of(struct auto_work *work, size_t taps, size_t decimation, size_t count)
{
    if (!(work->taps = malloc(taps * sizeof *work->taps)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < taps; i++)
        work->taps[i] = 1.0f / (float)(i + 1);
    int status = penstock_filter_open(
        &work->stream, work->context,
        &PENSTOCK_FILTER_DESC(.real_taps = work->taps, .tap_count = taps, .decimation = decimation), work->device);
    return status ? status : make_stream_room(work, count, 1);
}

static int open_filter(struct auto_work *work, size_t taps, size_t count)
{
    return open_filter_of(work, taps, 1, count);
}

static int open_decimator(struct auto_work *work, size_t taps, size_t count)
{
    return open_filter_of(work, taps, 10, count);
}

static int open_channelizer(struct auto_work *work, size_t channels, size_t count)
{
    int status = penstock_channelizer_open(&work->stream, work->context,
                                           &PENSTOCK_CHANNELIZER_DESC(.channels = channels), work->device);
    return status ? status : make_stream_room(work, count, 1);
}

static int open_synthesizer(struct auto_work *work, size_t channels, size_t count)
{
    int status =
        penstock_synthesizer_open(&work->stream, work->context,
                                  &PENSTOCK_SYNTHESIZER_DESC(.channels = channels, .hop = channels / 2), work->device);
    return status ? status : make_stream_room(work, count, channels);
}

/* ---------------------------------------------------------------- receivers ------------------- */

static int run_receiver(struct auto_work *work)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    size_t taken;
    int status = penstock_stream_push(work->stream, work->in, work->samples, &taken);
    for (int found = 1; !status && found;)
        if ((found = penstock_wifi_receiver_pull(work->stream, &frame)) < 0)
            status = found;
    return status;
}

static int open_receiver(struct auto_work *work, size_t length, size_t frames)
{
    struct air air = {.samples = NULL};
    bool good = true;
    for (size_t i = 0; i < frames && good; i++)
        good = air_frame(&air, &PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 54), length, i) && air_silence(&air, 320);
    if (good)
        air_noise(&air, 3e-4, 1);
    work->samples = air.count;
    work->in = air.samples;
    air.samples = NULL;
    air_free(&air);
    if (!good)
        return PENSTOCK_ERR_MEMORY;
    return penstock_wifi_receiver_open(&work->stream, work->context, &PENSTOCK_WIFI_RECEIVER_DESC(), work->device);
}

/* ---------------------------------------------------------------- all ------------------------- */

const struct auto_case auto_cases[] = {
    {"plan fft:1024:x1", open_fft, run_plan, 1024, 1},
    {"plan fft:1024:x64", open_fft, run_plan, 1024, 64},
    {"plan fft:2048:x2048", open_fft, run_plan, 2048, 2048},
    {"plan fft:65536:x32", open_fft, run_plan, 65536, 32},
    {"plan fft:1000:x1024", open_fft, run_plan, 1000, 1024},
    {"plan fft:2048:cs16:avg16:x64", open_power, run_plan, 2048, 64},
    {"plan fft:2048:cs16:avg16:x4096", open_power, run_plan, 2048, 4096},
    {"plan viterbi:wifi:1024:x64", open_viterbi, run_plan, 1024, 64},
    {"ofdm 2048:x14", open_ofdm, run_ofdm, 0, 14},
    {"ofdm 2048:x1024", open_ofdm, run_ofdm, 0, 1024},
    {"stream spectrum:1024 by 4096", open_spectrum, run_stream, 1024, 4096},
    {"stream spectrum:2048 by 2^20", open_spectrum, run_stream, 2048, 1 << 20},
    {"stream fft:2048 by 4", open_fft_stream, run_stream, 2048, 4},
    {"stream fft:2048 by 512", open_fft_stream, run_stream, 2048, 512},
    {"stream filter:129 by 4096", open_filter, run_stream, 129, 4096},
    {"stream filter:129 by 2^20", open_filter, run_stream, 129, 1 << 20},
    {"stream filter:4097 by 2^20", open_filter, run_stream, 4097, 1 << 20},
    {"stream filter:513:d10 by 65536", open_decimator, run_stream, 513, 65536},
    {"stream channelizer:64 by 65536", open_channelizer, run_stream, 64, 65536},
    {"stream synthesizer:64 by 1024", open_synthesizer, run_stream, 64, 1024},
    {"receiver wifi:54:x4", open_receiver, run_receiver, 1500, 4},
    {"receiver wifi:54:x64", open_receiver, run_receiver, 1500, 64},
};

const size_t auto_case_count = sizeof auto_cases / sizeof *auto_cases;

const char *auto_work_device(const struct auto_work *work)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    if (work->ofdm)
        return penstock_ofdm_device(work->ofdm);
    if (work->stream)
        return penstock_stream_device(work->stream);
    return work->plan && !penstock_plan_get_info(work->plan, &info) ? info.device : "none";
}
