/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The CPU serves while a device's kernels are compiled: a stream whose batches are in a ring of memory. */
#include "core/base/memory.h"
#include "fft_error.h"
#include "slow_compiler.h"

#define POINTS  64
#define CHUNK   777
#define SAMPLES 38400
#define HOP     48 /* less than POINTS: samples are carried from batch to batch */
#define SPECTRA ((SAMPLES - POINTS) / HOP + 1)

static penstock_cf32 in[SAMPLES];
static float spectrum[SPECTRA][POINTS];
static double right_spectrum[SPECTRA * POINTS];

static penstock_stream *new_spectrum(penstock_context *context, const char *device)
{
    penstock_stream *stream = NULL;
    CHECK_OK(penstock_spectrum_open(
        &stream, context,
        &PENSTOCK_SPECTRUM_DESC(.n = POINTS, .hop = HOP, .output = PENSTOCK_OUTPUT_POWER, .max_latency_s = 1e-4),
        device));
    return stream;
}

/* The next chunk, and what spectra there are: how many. */
static size_t spectrum_chunk(penstock_stream *stream, size_t *at, size_t most, size_t made, bool wait)
{
    const size_t left = SAMPLES - *at;
    size_t taken = 0, given = 0;
    if (most)
        CHECK_OK(penstock_stream_push(stream, in + *at, left < most ? left : most, &taken));
    CHECK_OK(penstock_stream_pull(stream, spectrum, SPECTRA - made, wait, &given));
    double error = given ? relative_error(spectrum[0], right_spectrum + made * POINTS, given * POINTS) : 0;
    CHECK(error <= 4 * error_bound(POINTS), "spectra from %zu on have error %g", made, error);
    *at += taken;
    return given;
}

static void spectrum_rest(penstock_stream *stream, size_t at, size_t made)
{
    size_t given;
    while (at < SAMPLES)
        made += spectrum_chunk(stream, &at, 5 * CHUNK, made, false);
    CHECK_OK(penstock_stream_finish(stream));
    while ((given = spectrum_chunk(stream, &at, 0, made, true)))
        made += given;
    CHECK_EQ(made, SPECTRA);
}

/* The stream has batches as a device likes them when that has come; one whose kernels do not compile does not come. */
static void spectra(char *text)
{
    penstock_context *context = new_context();
    penstock_stream *stream = new_spectrum(context, "cpu");
    size_t at = 0, made = 0;
    penstock_stream_info info = PENSTOCK_STREAM_INFO, own = PENSTOCK_STREAM_INFO;
    double start = now_s();
    CHECK_OK(penstock_stream_push(stream, in, SAMPLES, &at));
    CHECK_OK(penstock_stream_finish(stream));
    CHECK_OK(penstock_stream_pull(stream, spectrum, SPECTRA, true, &made));
    CHECK_EQ(made, SPECTRA);
    for (size_t i = 0; i < SPECTRA * POINTS; i++)
        right_spectrum[i] = (double)spectrum[i / POINTS][i % POINTS];
    penstock_stream_free(stream);
    stream = new_spectrum(context, preferred);
    at = 0;
    made = spectrum_chunk(stream, &at, CHUNK, 0, false);
    start_feeding(text);
    while (!is_kind(penstock_stream_device(stream)) && !warnings && now_s() - start < GUARD_S) {
        if (at == SAMPLES) {
            spectrum_rest(stream, at, made);
            CHECK_OK(penstock_stream_reset(stream));
            at = made = 0;
        }
        made += spectrum_chunk(stream, &at, CHUNK, made, false);
    }
    stop_feeding();
    spectrum_rest(stream, at, made);
    CHECK_OK(penstock_stream_reset(stream));
    at = 0;
    spectrum_rest(stream, at, 0);
    CHECK_OK(penstock_stream_reset(stream));
    CHECK(warnings == (text == nothing), "%u warnings, \"%s\"", warnings, warning);
    CHECK(is_kind(penstock_stream_device(stream)) == (text == content), "%s in the end",
          penstock_stream_device(stream));
    CHECK_OK(penstock_stream_get_info(stream, &info));
    penstock_stream_free(stream);
    start_feeding(content);
    stream = new_spectrum(context, text == content ? kind : "cpu");
    stop_feeding();
    CHECK_OK(penstock_stream_get_info(stream, &own));
    CHECK_EQ(info.batch, own.batch);
    penstock_stream_free(stream);
    penstock_context_free(context);
}

int main(int count, char **arguments)
{
    int exits;
    if (!begin(&exits, count, arguments))
        return exits;
    uint64_t seed = 7;
    for (size_t i = 0; i < SAMPLES; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    spectra(content);
    spectra(nothing);
    CHECK_EQ(penstock__memory_live(), 0);
    return finish();
}
