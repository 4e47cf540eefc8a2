/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* spectrum: the streaming windowed FFT, pushed in chunks of random size, or through memory that it lends; and the
 * stream of vectors, which has the same values. */
#include "spectrum.h"
#include "accuracy.h"
#include "bench/bench_stream.h"
#include "cases.h"
#include "pass.h"
#include "shared/progress.h"
#include "shared/targets.h"
#include "signals.h"

#include <stdlib.h>
#include <string.h>

static bool parse_word(struct spectrum_case *spectrum, const char *word)
{
    size_t number;
    if (parse_count(word, "x", &spectrum->batch) || parse_count(word, "hop", &spectrum->hop))
        return true;
    if (!strcmp(word, "acquire")) {
        spectrum->acquire = true;
        return true;
    }
    if (!strcmp(word, "vectors"))
        return spectrum->vectors = true;
    if (parse_count(word, "avg", &number)) {
        spectrum->average = (unsigned)number;
        return true;
    }
    return parse_output(word, &spectrum->output) || !penstock_format_parse(&spectrum->format, word) ||
           parse_window(word, spectrum->window);
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    *problem = count ? words[0] : "no length";
    if (!count || !parse_count(words[0], "", &test->spectrum.n) || test->spectrum.n > 1 << 23)
        return false;
    for (size_t i = 1; i < count; i++) {
        *problem = words[i];
        if (!parse_word(&test->spectrum, words[i]))
            return false;
    }
    if (!test->spectrum.hop)
        test->spectrum.hop = test->spectrum.n;
    if (!test->spectrum.average)
        test->spectrum.average = 1;
    *problem = "more than 2^40 samples";
    if ((test->spectrum.batch + 1.0) * test->spectrum.average * (double)test->spectrum.hop > CASE_MOST_SAMPLES)
        return false;
    *problem = "a hop is 1 to 64 times the length";
    if (test->spectrum.hop > 64 * test->spectrum.n) /* at most 2^29 */
        return false;
    *problem = "vectors are complex, one behind the other";
    if (test->spectrum.vectors && (test->spectrum.hop != test->spectrum.n || test->spectrum.average > 1 ||
                                   test->spectrum.output != PENSTOCK_OUTPUT_COMPLEX || test->spectrum.format))
        return false;
    *problem = "avg without power or decibel";
    return test->spectrum.average == 1 || test->spectrum.output != PENSTOCK_OUTPUT_COMPLEX;
}

struct spectrum_run {
    const struct spectrum_case *spectrum;
    struct stored stored;
    size_t samples, vectors; /* in the stream; complete output vectors of it */
    void *in;
    char *out;
    float *window;
    penstock_stream *stream;
    bool random_chunks; /* and every sample and vector is written and read */
    bool filled;        /* the memory that the stream lends has samples */
};

int spectrum_case_open(penstock_stream **stream, float **window, const struct spectrum_case *spectrum,
                       const struct case_target *target)
{
    if (!(*window = malloc(spectrum->n * sizeof **window)))
        return PENSTOCK_ERR_MEMORY;
    int status = penstock_window_fill(*window, spectrum->n, *spectrum->window ? spectrum->window : "rectangular");
    if (status)
        return status;
    if (spectrum->vectors)
        return penstock_fft_stream_open(stream, target->context,
                                        &PENSTOCK_FFT_STREAM_DESC(.n = spectrum->n, .window = *window), target->device);
    return penstock_spectrum_open(stream, target->context,
                                  &PENSTOCK_SPECTRUM_DESC(.n = spectrum->n, .hop = spectrum->hop,
                                                          .format = spectrum->format, .taps = *window,
                                                          .output = spectrum->output, .average = spectrum->average,
                                                          .channels = spectrum->channels),
                                  target->device);
}

static int open_stream(struct spectrum_run *run, const struct spectrum_case *spectrum, const struct case_target *target)
{
    *run = (struct spectrum_run){.spectrum = spectrum};
    return spectrum_case_open(&run->stream, &run->window, spectrum, target);
}

/* Room for `vectors` outputs, and a few samples more that make none. */
static int prepare(struct spectrum_run *run, size_t vectors)
{
    const struct spectrum_case *spectrum = run->spectrum;
    uint64_t seed = spectrum->n;
    run->vectors = vectors;
    run->stored = (struct stored){.n = spectrum->n,
                                  .domain = spectrum->format == PENSTOCK_F32 ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                                  .output = spectrum->output};
    run->samples = (vectors * spectrum->average - 1) * spectrum->hop + spectrum->n;
    run->samples += spectrum->vectors ? 0 : spectrum->hop / 2;
    run->in = malloc(run->samples * penstock_format_bytes(spectrum->format));
    run->out = malloc((vectors + 1) * stored_count(&run->stored) * stored_bytes(&run->stored));
    if (!run->in || !run->out)
        return PENSTOCK_ERR_MEMORY;
    signal_random(run->in, spectrum->format, run->samples, &seed);
    return PENSTOCK_OK;
}

static void release(struct spectrum_run *run)
{
    penstock_stream_free(run->stream);
    free(run->in);
    free(run->out);
    free(run->window);
}

/* The whole stream once, from reset to end. */
static int stream_once(struct spectrum_run *run, size_t *count)
{
    const struct spectrum_case *spectrum = run->spectrum;
    const size_t sample = penstock_format_bytes(spectrum->format), item = spectrum->vectors ? spectrum->n : 1;
    return pass_run(&(struct pass){.stream = run->stream,
                                   .in = run->in,
                                   .items = run->samples / item,
                                   .in_bytes = item * sample,
                                   .out = run->out,
                                   .room = run->vectors + 1,
                                   .out_bytes = stored_count(&run->stored) * stored_bytes(&run->stored),
                                   .acquire = spectrum->acquire,
                                   .filled = &run->filled,
                                   .random_chunk = run->random_chunks ? 3 * spectrum->n / item : 0},
                    count);
}

static void load_frames(const struct spectrum_run *run, size_t index, double *values)
{
    const struct spectrum_case *s = run->spectrum;
    for (size_t f = 0; f < s->average; f++)
        for (size_t j = 0; j < s->n; j++, values += 2) {
            signal_value(run->in, s->format, (index * s->average + f) * s->hop + j, run->samples, values);
            values[0] *= run->window[j];
            values[1] *= run->window[j];
        }
}

static void compare(const struct spectrum_run *run, const struct case_target *target, struct case_verdict *verdict)
{
    size_t bytes = stored_count(&run->stored) * stored_bytes(&run->stored);
    struct accuracy accuracy;
    double *values = malloc(2 * run->spectrum->average * run->spectrum->n * sizeof *values);
    if (!values || !accuracy_init(&accuracy, &run->stored, target->thorough, run->spectrum->n)) {
        verdict_failed(verdict, "out of memory");
        free(values);
        return;
    }
    for (size_t i = 0; i < run->vectors; i++) {
        load_frames(run, i, values);
        accuracy_add(&accuracy, values, run->spectrum->average, run->out + i * bytes);
    }
    double error = accuracy_error(&accuracy), bound = accuracy_bound(&accuracy, target->device);
    if (error <= bound)
        verdict_held(verdict, "error %.2e, bound %.2e, %zu vectors", error, bound, run->vectors);
    else
        verdict_failed(verdict, "error %.2e is above the bound %.2e", error, bound);
    accuracy_free(&accuracy);
    free(values);
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    enum { VECTORS = 9 };
    struct spectrum_run run;
    size_t count = 0;
    int status = open_stream(&run, &test->spectrum, target);
    run.random_chunks = true;
    if (status || (status = prepare(&run, test->spectrum.batch ? test->spectrum.batch : VECTORS)) ||
        (status = stream_once(&run, &count)))
        verdict_status(verdict, status);
    else if (count != run.vectors)
        verdict_failed(verdict, "%zu vectors came of %zu samples, not %zu", count, run.samples, run.vectors);
    else
        compare(&run, target, verdict);
    release(&run);
}

static int run_stream(void *state)
{
    struct spectrum_run *run = state;
    size_t count = 0;
    int status = stream_once(run, &count);
    if (status)
        return fail_status(status);
    return count == run->vectors ? EXIT_DONE
                                 : fail(EXIT_DATA, "the stream gave %zu vectors, not %zu", count, run->vectors);
}

/* A stream is long: many batches of a device that works in such, which has none at the beginning and the end. */
static size_t bench_vectors(const struct spectrum_run *run, const struct case_target *target)
{
    enum { SAMPLES = 1 << 20, BATCHES = 64, SEVERAL = 2 };
    const size_t batches = targets_are_several(target->device) ? SEVERAL * BATCHES : BATCHES;
    const struct spectrum_case *s = run->spectrum;
    size_t vectors = SAMPLES / (s->hop * s->average) + 1;
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    if (!penstock_stream_get_info(run->stream, &info) && info.batch * batches > vectors)
        vectors = (size_t)info.batch * batches;
    return s->batch ? s->batch : vectors;
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct spectrum_case *s = &test->spectrum;
    struct spectrum_run run;
    double start = seconds_now();
    int status = open_stream(&run, s, target), code;
    row->plan_cold_ms = 1e3 * (seconds_now() - start);
    const size_t vectors = status ? 0 : bench_vectors(&run, target);
    if (!status)
        status = prepare(&run, vectors);
    code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        row->batch = vectors;
        row->samples_per_run = (double)run.samples;
        row->bytes_per_sample =
            (double)penstock_format_bytes(s->format) +
            (double)(vectors * stored_count(&run.stored) * stored_bytes(&run.stored)) / (double)run.samples;
        code = bench_measure(row, &(struct workload){run_stream, &run}, NULL, 0.5);
        if (!code)
            bench_stream_limits(row, target, (double)(run.samples * penstock_format_bytes(s->format)),
                                (double)(vectors * stored_count(&run.stored) * stored_bytes(&run.stored)));
    }
    release(&run);
    return code;
}

const struct case_kind case_spectrum = {
    .name = "spectrum",
    .syntax = "spectrum:N[:hopH][:WINDOW][:cs16|cs8|cu8|f32][:power|decibel][:avgK][:vectors][:acquire][:xVECTORS]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
