/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A plan, streams of vectors, filter, resampler and spectrum, OFDM symbols. */
#include "gpu_uses.h"

#include <penstock/fft_stream.h>
#include <penstock/filter.h>
#include <penstock/ofdm.h>
#include <penstock/resampler.h>
#include <penstock/spectrum.h>

#include <stdio.h>

enum { HALF = USE_SAMPLES / 2, PIECE = 777 * USE_N, TAPS = 65 };

static void happen(const struct gpu_work *work)
{
    if (work->halfway)
        work->halfway();
}

static void note_device(struct gpu_work *work, const char *device)
{
    snprintf(work->at_last, sizeof work->at_last, "%s", device ? device : "");
}

/* ---------------------------------------------------------------- a plan ---------------------- */

static int run_plan(struct gpu_work *work)
{
    const size_t frames = HALF / USE_N;
    penstock_plan *plan;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status = penstock_fft_plan(&plan, work->context, &PENSTOCK_FFT_DESC(.n = USE_N), work->device);
    if (status)
        return status;
    for (size_t first = 0; first < USE_SAMPLES && !status; first += HALF) {
        status = penstock_plan_run(plan, work->samples + first, work->values + first, frames);
        work->made += status ? 0 : HALF;
        if (!first)
            happen(work);
    }
    if (!status && !(status = penstock_plan_get_info(plan, &info)))
        note_device(work, info.device);
    penstock_plan_free(plan);
    return status;
}

/* ---------------------------------------------------------------- streams --------------------- */

struct flow {
    struct gpu_work *work;
    void *stream;
    int (*push)(void *stream, const penstock_cf32 *from, size_t count, size_t *taken);
    int (*pull)(void *stream, penstock_cf32 *to, size_t capacity, size_t *count);
    int (*finish)(void *stream);
};

static int pull_all(const struct flow *flow)
{
    struct gpu_work *work = flow->work;
    size_t count;
    int status;
    do {
        status = flow->pull(flow->stream, work->values + work->made, USE_VALUES - work->made, &count);
        work->made += count;
    } while (!status && count);
    return status;
}

static int push_all(const struct flow *flow, size_t first, size_t end)
{
    int status = 0;
    for (size_t taken; first < end && !status; first += taken) {
        status =
            flow->push(flow->stream, flow->work->samples + first, end - first < PIECE ? end - first : PIECE, &taken);
        if (!status && !taken)
            status = pull_all(flow);
    }
    return status;
}

/* Halfway values are on their way, as none is waited for. */
static int run_flow(const struct flow *flow)
{
    int status = push_all(flow, 0, HALF);
    happen(flow->work);
    if (!status)
        status = push_all(flow, HALF, USE_SAMPLES);
    if (!status)
        status = flow->finish(flow->stream);
    return status ? status : pull_all(flow);
}

static int vectors_push(void *stream, const penstock_cf32 *from, size_t count, size_t *taken)
{
    int status = penstock_stream_push(stream, from, count / USE_N, taken);
    *taken *= USE_N;
    return status;
}

static int vectors_pull(void *stream, penstock_cf32 *to, size_t capacity, size_t *count)
{
    int status = penstock_stream_pull(stream, to, capacity / USE_N, false, count);
    *count *= USE_N;
    return status;
}

static int vectors_finish(void *stream)
{
    return penstock_stream_finish(stream);
}

static int run_vectors(struct gpu_work *work)
{
    penstock_stream *stream;
    int status = penstock_fft_stream_open(&stream, work->context, &PENSTOCK_FFT_STREAM_DESC(.n = USE_N), work->device);
    if (status)
        return status;
    status = run_flow(&(struct flow){work, stream, vectors_push, vectors_pull, vectors_finish});
    note_device(work, penstock_stream_device(stream));
    penstock_stream_free(stream);
    return status;
}

static int values_push(void *stream, const penstock_cf32 *from, size_t count, size_t *taken)
{
    return penstock_stream_push(stream, from, count, taken);
}

static int values_pull(void *stream, penstock_cf32 *to, size_t capacity, size_t *count)
{
    return penstock_stream_pull(stream, to, capacity, false, count);
}

static int values_finish(void *stream)
{
    return penstock_stream_finish(stream);
}

static int run_filter(struct gpu_work *work)
{
    float taps[TAPS];
    penstock_stream *filter;
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    for (int i = 0; i < TAPS; i++)
        taps[i] = (float)(i % 7 - 3) / 10;
    int status = penstock_filter_open(
        &filter, work->context, &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = TAPS, .n = 512), work->device);
    if (status)
        return status;
    status = run_flow(&(struct flow){work, filter, values_push, values_pull, values_finish});
    note_device(work, penstock_filter_get_info(filter, &info) ? NULL : info.device);
    penstock_stream_free(filter);
    return status;
}

static int run_resampler(struct gpu_work *work)
{
    penstock_stream *stream;
    int status =
        penstock_resampler_open(&stream, work->context, &PENSTOCK_RESAMPLER_DESC(.ratio = 0.7312), work->device);
    if (status)
        return status;
    status = run_flow(&(struct flow){work, stream, values_push, values_pull, values_finish});
    note_device(work, penstock_stream_device(stream));
    penstock_stream_free(stream);
    return status;
}

static int spectrum_push(void *stream, const penstock_cf32 *from, size_t count, size_t *taken)
{
    return penstock_stream_push(stream, from, count, taken);
}

static int spectrum_pull(void *stream, penstock_cf32 *to, size_t capacity, size_t *count)
{
    int status = penstock_stream_pull(stream, to, capacity / USE_N, false, count);
    *count *= USE_N;
    return status;
}

static int spectrum_finish(void *stream)
{
    return penstock_stream_finish(stream);
}

static int run_spectrum(struct gpu_work *work)
{
    penstock_stream *spectrum;
    int status = penstock_spectrum_open(&spectrum, work->context, &PENSTOCK_SPECTRUM_DESC(.n = USE_N, .window = "hann"),
                                        work->device);
    if (status)
        return status;
    status = run_flow(&(struct flow){work, spectrum, spectrum_push, spectrum_pull, spectrum_finish});
    note_device(work, penstock_stream_device(spectrum));
    penstock_stream_free(spectrum);
    return status;
}

/* ---------------------------------------------------------------- OFDM ------------------------ */

enum { POINTS = 64, GUARD = 16, CARRIERS = 48, SOFT = CARRIERS * PENSTOCK_QPSK, SYMBOLS = HALF / (POINTS + GUARD) };

/* Symbols of half of the samples; their soft bits become the values. */
static int demodulate(struct gpu_work *work, penstock_ofdm *ofdm, const penstock_cf32 *samples)
{
    static penstock_ofdm_symbol symbols[SYMBOLS];
    static penstock_cf32 channel[POINTS];
    static int8_t soft[SYMBOLS * SOFT];
    const penstock_ofdm_frame frame = {
        .channel = channel, .noise = POINTS, .llr_scale = 8, .constellation = PENSTOCK_QPSK};
    for (size_t i = 0; i < POINTS; i++)
        channel[i].re = 1;
    for (size_t i = 0; i < SYMBOLS; i++)
        symbols[i] = (penstock_ofdm_symbol){.start = i * (POINTS + GUARD)};
    int status = penstock_ofdm_run(ofdm,
                                   &PENSTOCK_OFDM_BATCH(.samples = samples, .sample_count = HALF, .frames = &frame,
                                                        .frame_count = 1, .symbols = symbols, .symbol_count = SYMBOLS),
                                   &PENSTOCK_OFDM_RESULT(.soft = soft));
    for (size_t i = 0; i < sizeof soft && !status; i += 2)
        work->values[work->made++] = (penstock_cf32){soft[i], soft[i + 1]};
    return status;
}

static int run_ofdm(struct gpu_work *work)
{
    int32_t carriers[CARRIERS];
    penstock_ofdm *ofdm;
    for (int i = 0; i < CARRIERS; i++)
        carriers[i] = i < CARRIERS / 2 ? i - CARRIERS / 2 : i - CARRIERS / 2 + 1;
    int status = penstock_ofdm_new(&ofdm, work->context,
                                   &PENSTOCK_OFDM_DESC(.n = POINTS, .guard = GUARD, .carriers = carriers,
                                                       .carrier_count = CARRIERS, .tracking = PENSTOCK_TRACK_GIVEN,
                                                       .max_constellation = PENSTOCK_QPSK),
                                   work->device);
    if (status)
        return status;
    status = demodulate(work, ofdm, work->samples);
    happen(work);
    if (!status)
        status = demodulate(work, ofdm, work->samples + HALF);
    note_device(work, penstock_ofdm_device(ofdm));
    penstock_ofdm_free(ofdm);
    return status;
}

/* ---------------------------------------------------------------- all ------------------------- */

/* Soft bits may be one off. */
const struct gpu_use gpu_uses[GPU_USES] = {
    {"a plan", 1, 1e-6, run_plan},         {"a stream of vectors", 1, 1e-6, run_vectors},
    {"a filter", 3, 1e-6, run_filter},     {"a resampler", 1, 1e-6, run_resampler},
    {"a spectrum", 1, 1e-6, run_spectrum}, {"OFDM symbols", 2, 1e-3, run_ofdm}};
