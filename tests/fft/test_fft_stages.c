/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Load and store stages of the cpu and reference backends, every variant, in combinations drawn by a generator that is
 * the same everywhere, against an emulation in double precision. PENSTOCK_TEST_FULL=1 draws twenty times as many.
 */
#include "fft_emulation.h"
#include "fft_error.h"
#include "test.h"
#include "variant.h"

#define MOST_BYTES ((size_t)1 << 20)

static penstock_context *context;
static unsigned char *in;
static float *out;
static double *want;
static uint64_t state = 1;
static bool have_reference;
static int formats_seen[7], outputs_seen[3];

static size_t draw(size_t below)
{
    return (size_t)(test_random(&state) % below);
}

static void fill(penstock_format format, size_t samples)
{
    size_t bytes = samples * penstock_format_bytes(format);
    float *floats = (float *)(void *)in;
    if (format == PENSTOCK_CF32 || format == PENSTOCK_F32 || format == PENSTOCK_PLANAR)
        for (size_t i = 0; i < bytes / sizeof *floats; i++)
            floats[i] = (float)test_uniform(&state);
    else if (format == PENSTOCK_CF16)
        for (size_t i = 0; i < bytes / 2; i++)
            ((uint16_t *)(void *)in)[i] = (uint16_t)(draw(0x3c01) + 0x8000 * draw(2)); /* -1 .. 1 */
    else
        for (size_t i = 0; i < bytes; i++)
            in[i] = (unsigned char)draw(256);
}

static struct penstock_fft_problem draw_problem(const float *window)
{
    static const size_t lengths[] = {1, 2, 3, 8, 16, 17, 60, 64, 100, 128, 255, 509, 512, 1000, 1024};
    struct penstock_fft_problem fft = {.n = lengths[draw(sizeof lengths / sizeof lengths[0])],
                                       .direction = draw(3) ? PENSTOCK_FORWARD : PENSTOCK_REVERSE,
                                       .domain = draw(4) ? PENSTOCK_COMPLEX : PENSTOCK_REAL,
                                       .format = draw(6) ? (penstock_format)draw(5) : PENSTOCK_CF16,
                                       .skip = draw(3) ? 0 : draw(40),
                                       .output = (penstock_output)draw(3),
                                       .scale = draw(2) ? 1 : 0.01f * (float)(1 + draw(1000)),
                                       .average = draw(2) ? 1 : 1 + (unsigned)draw(5)};
    bool real_forward = fft.domain == PENSTOCK_REAL && fft.direction == PENSTOCK_FORWARD;
    bool real_reverse = fft.domain == PENSTOCK_REAL && fft.direction == PENSTOCK_REVERSE;
    if (real_forward)
        fft.format = PENSTOCK_F32;
    if (real_reverse)
        fft.output = PENSTOCK_OUTPUT_COMPLEX;
    if (!real_reverse && draw(2))
        fft.window = window;
    if (fft.domain == PENSTOCK_COMPLEX) {
        fft.shift = draw(2) ? 0 : 0.5 * test_uniform(&state);
        fft.centered = draw(2);
        fft.gathered = !draw(3);
    }
    if (fft.output == PENSTOCK_OUTPUT_COMPLEX)
        fft.average = 1;
    fft.spacing = draw(3) ? 0 : 1 + draw(2 * fft.n);
    return fft;
}

/* Decibels are right within what a power's error makes of them. A bin's error goes with the mean of all bins and may be
 * some times larger than the mean error. */
static void compare_decibel(const char *name, size_t n, size_t count, double tolerance)
{
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += want[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double relative = want[i] > 0 ? 8 * tolerance * sqrt(mean / want[i]) : 1, expected = 10 * log10(want[i]);
        if (relative > 0.05)
            continue;
        CHECK(fabs(out[i] - expected) <= 4.4 * relative + 1e-5 + 1.2e-7 * fabs(expected),
              "%s, n = %zu: %.7g dB instead of %.7g at %zu", name, n, (double)out[i], expected, i);
    }
}

static void run_case(const char *device, unsigned number, double factor, const struct penstock_problem *problem,
                     const struct penstock_gather *gather, size_t samples, size_t frames)
{
    const struct penstock_fft_problem *fft = &problem->fft;
    size_t floats = frames / fft->average * problem->out_bytes / sizeof *out;
    /* Roundings of many values average to 1.5e-7; of few they may all be in the worst one: window and its factor, the
     * phasor's argument (2) and value, product (2) and scale. */
    double stages = fft->gathered && floats < 128 ? 8 * 0x1p-24 : 1.5e-7;
    double tolerance = factor * (error_bound(fft->n) + stages), error;
    struct variant v;
    int status = variant_new(&v, context, device, problem, number);
    if (status == PENSTOCK_ERR_UNSUPPORTED && number > 0)
        return;
    CHECK_OK(status);
    if (status)
        return;
    for (size_t i = 0; i <= floats; i++)
        out[i] = -12345;
    CHECK_OK(variant_run(&v, in, samples, gather, out, frames));
    CHECK(out[floats] == -12345, "%s, %s, n = %zu: wrote behind the output", device, v.plan.variant, fft->n);
    if (fft->output == PENSTOCK_OUTPUT_DECIBEL) {
        compare_decibel(v.plan.variant, fft->n, floats, tolerance);
    } else {
        error = relative_error(out, want, floats);
        if (fft->output == PENSTOCK_OUTPUT_POWER)
            error /= 2;
        CHECK(error <= tolerance,
              "%s, n = %zu, format %s, %s, %s, output %d, window %d, shift %g, gathered %d, centred %d, scale %g, "
              "average %u, frames %zu: error %.3g, allowed %.3g",
              v.plan.variant, fft->n, penstock_format_name(fft->format), fft->direction ? "reverse" : "forward",
              fft->domain ? "real" : "complex", (int)fft->output, fft->window != NULL, fft->shift, fft->gathered,
              fft->centered, (double)fft->scale, fft->average, frames, error, tolerance);
    }
    variant_free(&v);
}

static void run_drawn(const float *window)
{
    struct penstock_problem problem = variant_problem(draw_problem(window));
    struct penstock_gather gather[64];
    size_t frames = problem.fft.average * (1 + draw(8)), samples = penstock__fft_samples(&problem.fft, frames);
    if (problem.fft.gathered) {
        samples = problem.fft.n + draw(1000);
        for (size_t i = 0; i < frames; i++)
            gather[i] = (struct penstock_gather){.start = (uint32_t)draw(samples - problem.fft.n + 1),
                                                 .phase = (uint32_t)test_random(&state),
                                                 .step = draw(4) ? (uint32_t)test_random(&state) : 0};
    }
    fill(problem.fft.format, samples);
    CHECK_OK(emulate_fft(want, &problem.fft, in, samples, problem.fft.gathered ? gather : NULL, frames));
    for (unsigned number = 0; number < 3; number++)
        run_case("cpu", number, 1, &problem, problem.fft.gathered ? gather : NULL, samples, frames);
    if (have_reference)
        run_case("reference", 0, 6, &problem, problem.fft.gathered ? gather : NULL, samples, frames);
    formats_seen[problem.fft.format]++;
    outputs_seen[problem.fft.output]++;
}

/* A reading of silence is -300 dB, one of infinity or NaN stays what it is. */
static void check_extremes(const char *device)
{
    static const penstock_cf32 values[] = {{0, 0}, {1e-20f, 0}, {1e-15f, 1e-15f}, {INFINITY, 0}, {NAN, 0}, {1e15f, 0}};
    struct penstock_problem problem = variant_problem(
        (struct penstock_fft_problem){.n = 1, .format = PENSTOCK_CF32, .output = PENSTOCK_OUTPUT_DECIBEL});
    struct variant v;
    float decibels[6];
    CHECK_OK(variant_new(&v, context, device, &problem, 0));
    CHECK_OK(variant_run(&v, values, 6, NULL, decibels, 6));
    CHECK(decibels[0] == -300.0f && decibels[1] == -300.0f, "%s: %.9g, %.9g", device, (double)decibels[0],
          (double)decibels[1]);
    CHECK(fabs(decibels[2] + 296.98970004) < 4e-5, "%s: %.9g", device, (double)decibels[2]);
    CHECK(decibels[3] == INFINITY, "%s: %g", device, (double)decibels[3]);
    CHECK(isnan(decibels[4]), "%s: %g", device, (double)decibels[4]);
    CHECK(fabs(decibels[5] - 300.0) < 4e-5, "%s: %.9g", device, (double)decibels[5]);
    variant_free(&v);
}

int main(void)
{
    int cases = getenv("PENSTOCK_TEST_FULL") ? 40000 : 2000;
    static float window[1024];
    struct penstock_device *device;
    in = malloc(MOST_BYTES);
    out = malloc(MOST_BYTES);
    want = malloc(2 * MOST_BYTES);
    if (!in || !out || !want)
        return 1;
    for (size_t i = 0; i < 1024; i++)
        window[i] = (float)test_uniform(&state);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 2)));
    have_reference = !penstock__device_find(context, "reference", &device);
    for (int i = 0; i < cases; i++)
        run_drawn(window);
    for (int i = 0; i < 7; i++)
        CHECK(formats_seen[i] > 50, "format %d was drawn %d times", i, formats_seen[i]);
    for (int i = 0; i < 3; i++)
        CHECK(outputs_seen[i] > 50, "output %d was drawn %d times", i, outputs_seen[i]);
    check_extremes("cpu");
    if (have_reference)
        check_extremes("reference");
    penstock_context_free(context);
    free(in);
    free(out);
    free(want);
    return test_finish();
}
