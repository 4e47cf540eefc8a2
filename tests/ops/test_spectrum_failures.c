/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The spectrum stream when allocation k or device call k fails, for every k: nothing leaks; with "prefer:" the CPU goes
 * on without a lost sample, by name the error comes out and a reset makes the stream whole again. And its latency limit
 * and refusals.
 */
#include "failure_sweep.h"

#define SAMPLES 40000
#define VECTORS 700

static penstock_cf32 samples[SAMPLES], good[VECTORS * 64], got[VECTORS * 64];

/* Small batches make many calls: a latency limit that has always passed sends whatever there is. */
static const penstock_spectrum_desc desc = {
    .size = sizeof(penstock_spectrum_desc), .n = 64, .hop = 60, .window = "hann", .max_latency_s = 1e-9};

/* Pushes everything and pulls everything; vectors in `*count` even where it fails. */
static int run(penstock_stream *spectrum, penstock_cf32 *vectors, size_t *count)
{
    size_t at = 0, taken, pulled;
    int status;
    *count = 0;
    while (at < SAMPLES) {
        size_t chunk = SAMPLES - at < 9999 ? SAMPLES - at : 9999;
        status = penstock_stream_push(spectrum, samples + at, chunk, &taken);
        at += taken;
        do {
            int pull = penstock_stream_pull(spectrum, vectors + *count * 64, VECTORS - *count, false, &pulled);
            *count += pulled;
            status = status ? status : pull;
        } while (pulled);
        if (status)
            return status;
    }
    if ((status = penstock_stream_finish(spectrum)))
        return status;
    while (!(status = penstock_stream_pull(spectrum, vectors + *count * 64, VECTORS - *count, false, &pulled)) &&
           pulled)
        *count += pulled;
    return status;
}

static size_t expected(void)
{
    return (SAMPLES - 64) / 60 + 1;
}

static void check_good(const char *what, long k, size_t count)
{
    CHECK(count == expected(), "%s %ld: %zu vectors, expected %zu", what, k, count, expected());
    CHECK(!memcmp(got, good, count * 64 * sizeof *got), "%s %ld: other values", what, k);
}

static void make_good(void)
{
    penstock_context *context = NULL;
    penstock_stream *spectrum = NULL;
    uint64_t seed = 1;
    size_t count;
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK_OK(penstock_spectrum_open(&spectrum, context, &desc, "cpu"));
    CHECK_OK(run(spectrum, good, &count));
    CHECK_EQ(count, expected());
    penstock_stream_free(spectrum);
    penstock_context_free(context);
}

/* A stream; after an error once more, from a reset on. */
static int use(penstock_context *context, const char *device, bool *wrong)
{
    penstock_stream *spectrum = NULL;
    size_t count = 0;
    int status = penstock_spectrum_open(&spectrum, context, &desc, device);
    if (status)
        return status;
    status = run(spectrum, got, &count);
    *wrong = count > expected() || memcmp(got, good, count * 64 * sizeof *got) || (!status && count != expected());
    sweep_over();
    if (status) {
        CHECK_OK(penstock_stream_reset(spectrum));
        CHECK_OK(run(spectrum, got, &count));
        check_good(device, status, count);
    }
    penstock_stream_free(spectrum);
    return status;
}

/* One transform comes at once where the limit has passed, and only with its batch where there is none. */
static void check_latency(void)
{
    static const double limits[] = {0, 1e-9};
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (int i = 0; i < 2; i++) {
        penstock_stream *spectrum = NULL;
        size_t count = 99, taken;
        CHECK_OK(penstock_spectrum_open(&spectrum, context,
                                        &PENSTOCK_SPECTRUM_DESC(.n = 64, .max_latency_s = limits[i]), "trace"));
        CHECK_OK(penstock_stream_push(spectrum, samples, 70, &taken));
        CHECK_OK(penstock_stream_pull(spectrum, got, VECTORS, false, &count));
        CHECK_EQ(count, i);
        CHECK_OK(penstock_stream_finish(spectrum));
        CHECK_EQ(penstock_stream_push(spectrum, samples, 1, &taken), PENSTOCK_ERR_STATE);
        CHECK_EQ(taken, 0);
        CHECK_OK(penstock_stream_pull(spectrum, got, VECTORS, false, &count));
        CHECK_EQ(count, 1 - i);
        CHECK_OK(penstock_stream_pull(spectrum, got, VECTORS, true, &count));
        CHECK_EQ(count, 0);
        penstock_stream_free(spectrum);
    }
    penstock_context_free(context);
}

static void check_refusals(void)
{
    penstock_context *context = NULL;
    penstock_stream *spectrum = NULL;
    const penstock_spectrum_desc bad[] = {
        PENSTOCK_SPECTRUM_DESC(.n = 0),
        PENSTOCK_SPECTRUM_DESC(.n = (1 << 23) + 1),
        PENSTOCK_SPECTRUM_DESC(.n = 4, .hop = 257),
        PENSTOCK_SPECTRUM_DESC(.n = 4, .format = (penstock_format)9),
        PENSTOCK_SPECTRUM_DESC(.n = 4, .window = "hanning-like"),
        PENSTOCK_SPECTRUM_DESC(.n = 4, .output = (penstock_output)3),
        PENSTOCK_SPECTRUM_DESC(.n = 4, .output = (penstock_output)3, .average = 2, .flush_partial = true),
        PENSTOCK_SPECTRUM_DESC(.n = 4, .average = 2),
        PENSTOCK_SPECTRUM_DESC(.n = 4, .scale = NAN),
        PENSTOCK_SPECTRUM_DESC(.n = 4, .max_latency_s = -1),
        PENSTOCK_SPECTRUM_DESC(.n = 4, .format = PENSTOCK_F32, .centered = true),
        {.n = 4},
    };
    size_t count;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(penstock_spectrum_open(&spectrum, context, &bad[i], "cpu"), PENSTOCK_ERR_ARGUMENT);
        CHECK(!spectrum && penstock_error_text()[0], "description %zu: no text", i);
    }
    CHECK_EQ(penstock_spectrum_open(&spectrum, context, NULL, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_open(&spectrum, NULL, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_spectrum_open(&spectrum, context, &desc, "no such device"), PENSTOCK_ERR_NO_DEVICE);
    CHECK_OK(penstock_spectrum_open(&spectrum, context, &desc, "cpu"));
    CHECK_EQ(penstock_stream_push(spectrum, NULL, 1, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_push(NULL, samples, 1, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_pull(spectrum, NULL, 1, false, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_finish(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_reset(NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_stream_free(spectrum);
    penstock_stream_free(NULL);
    penstock_context_free(context);
}

int main(void)
{
    make_good();
    check_latency();
    check_refusals();
    sweep_allocations(use, "trace", 0);
    sweep_calls(use);
    return test_finish();
}
