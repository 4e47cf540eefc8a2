/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* chain: a filter linked to a stream of spectra or vectors, against the definitions of both in double precision. */
#include "accuracy.h"
#include "bench_stream.h"
#include "filter_signal.h"
#include "pass.h"
#include "progress.h"
#include "spectrum.h"

#include <stdlib.h>
#include <string.h>

/* "filter:...+spectrum:...": the words of each are its own. */
static bool parse_both(struct test_case *first, struct test_case *second, char *const *words, size_t count,
                       const char **problem)
{
    char *plus = NULL;
    size_t at = 0;
    while (at < count && !(plus = strchr(words[at], '+')))
        at++;
    *problem = "a chain is filter:...+spectrum:...";
    if (!plus || !at || strcmp(words[0], "filter") || strcmp(plus, "+spectrum"))
        return false;
    *plus = '\0';
    return case_filter.parse(first, words + 1, at, problem) &&
           case_spectrum.parse(second, words + at + 1, count - at - 1, problem);
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct test_case first = {0}, second = {0};
    if (!parse_both(&first, &second, words, count, problem))
        return false;
    test->chain = (struct chain_case){.filter = first.filter, .spectrum = second.spectrum};
    const struct filter_case *filter = &test->chain.filter;
    const struct spectrum_case *spectrum = &test->chain.spectrum;
    *problem = "a chain's filter has one channel of complex values, no interpolation and no stream";
    if (filter->channels > 1 || filter->interpolation > 1 || filter->stream || filter->format == PENSTOCK_F32)
        return false;
    *problem = "a chain's samples, their format and acquire are told by the filter's words";
    if (spectrum->batch || spectrum->acquire || spectrum->format)
        return false;
    *problem = "decibels of filtered values have no bound";
    return spectrum->output != PENSTOCK_OUTPUT_DECIBEL;
}

struct chain_run {
    const struct chain_case *chain;
    struct filter_signal signal;
    struct stored stored;
    size_t results, result_bytes; /* that come of all samples */
    penstock_stream *first, *second;
    penstock_filter_info info;
    float *window;
    char *out; /* room for one more */
    bool random_chunks;
};

static size_t results_of(const struct spectrum_case *spectrum, size_t values)
{
    return values < spectrum->n ? 0 : ((values - spectrum->n) / spectrum->hop + 1) / spectrum->average;
}

static int open_streams(struct chain_run *run, const struct case_target *target)
{
    int status = filter_signal_open(&run->signal, &run->first, target);
    if (status || (status = penstock_filter_get_info(run->first, &run->info)) ||
        (status = spectrum_case_open(&run->second, &run->window, &run->chain->spectrum, target)))
        return status;
    return penstock_stream_link(run->first, run->second);
}

static int prepare(struct chain_run *run, const struct chain_case *chain, size_t samples,
                   const struct case_target *target)
{
    *run = (struct chain_run){.chain = chain,
                              .stored = {.n = chain->spectrum.n, .output = chain->spectrum.output},
                              .info = PENSTOCK_FILTER_INFO};
    int status = filter_signal_make(&run->signal, &chain->filter, samples);
    if (status)
        return status;
    run->results = results_of(&chain->spectrum, run->signal.values);
    run->result_bytes = stored_count(&run->stored) * stored_bytes(&run->stored);
    run->out = malloc((run->results + 1) * run->result_bytes);
    return run->out ? open_streams(run, target) : PENSTOCK_ERR_MEMORY;
}

static void release(struct chain_run *run)
{
    penstock_stream_free(run->first);
    penstock_stream_free(run->second);
    filter_signal_free(&run->signal);
    free(run->window);
    free(run->out);
}

/* All samples once, from reset to end. */
static int chain_once(const struct chain_run *run, size_t *count)
{
    enum { RANDOM_CHUNK = 9999 };
    return pass_run(&(struct pass){.stream = run->first,
                                   .last = run->second,
                                   .in = run->signal.in,
                                   .items = run->signal.samples,
                                   .in_bytes = penstock_format_bytes(run->chain->filter.format),
                                   .out = run->out,
                                   .room = run->results + 1,
                                   .out_bytes = run->result_bytes,
                                   .acquire = run->chain->filter.acquire,
                                   .random_chunk = run->random_chunks ? RANDOM_CHUNK : 0},
                    count);
}

/* ---------------------------------------------------------------- check ----------------------- */

/* The windowed frames of a result, of values by the filter's definition. */
static void load_frames(const struct chain_run *run, size_t result, double *frames)
{
    const struct spectrum_case *s = &run->chain->spectrum;
    for (size_t f = 0; f < s->average; f++)
        for (size_t j = 0; j < s->n; j++, frames += 2) {
            const size_t value = (result * s->average + f) * s->hop + j;
            filter_signal_value(&run->signal, 0, value * run->chain->filter.decimation, frames);
            frames[0] *= run->window[j];
            frames[1] *= run->window[j];
        }
}

/* Of many results every few one. What the filter's values are off by is in the spectra as it is, and twice in powers.
 */
static void compare(const struct chain_run *run, const struct case_target *target, struct case_verdict *verdict)
{
    enum { COMPARED = 16 };
    const size_t step = target->thorough ? 1 : run->results / COMPARED + 1;
    struct accuracy accuracy;
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    double *frames = malloc(2 * run->chain->spectrum.average * run->chain->spectrum.n * sizeof *frames);
    if (!frames || !accuracy_init(&accuracy, &run->stored, target->thorough, run->stored.n)) {
        verdict_failed(verdict, "out of memory");
        free(frames);
        return;
    }
    for (size_t i = 0; i < run->results; i += step) {
        load_frames(run, i, frames);
        accuracy_add(&accuracy, frames, run->chain->spectrum.average, run->out + i * run->result_bytes);
    }
    const double error = accuracy_error(&accuracy),
                 bound = accuracy_bound(&accuracy, target->device) + 2 * filter_signal_bound(target, run->info.n);
    penstock_stream_get_stats(run->second, &stats);
    if (error <= bound)
        verdict_held(verdict, "error %.2e, bound %.2e, %zu results; %.0f %% handed over within the device", error,
                     bound, run->results, stats.in ? 100.0 * (double)stats.handed_over / (double)stats.in : 0);
    else
        verdict_failed(verdict, "error %.2e is above the bound %.2e", error, bound);
    accuracy_free(&accuracy);
    free(frames);
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    enum { RESULTS = 9 };
    const struct spectrum_case *spectrum = &test->chain.spectrum;
    const size_t values = (RESULTS * spectrum->average - 1) * spectrum->hop + spectrum->n + spectrum->hop / 2,
                 asked = test->chain.filter.samples;
    struct chain_run run;
    size_t count = 0;
    int status = prepare(&run, &test->chain, asked ? asked : values * test->chain.filter.decimation, target);
    run.random_chunks = true;
    if (status || (status = chain_once(&run, &count)))
        verdict_status(verdict, status);
    else if (count != run.results)
        verdict_failed(verdict, "%zu results came of %zu samples, not %zu", count, run.signal.samples, run.results);
    else
        compare(&run, target, verdict);
    release(&run);
}

/* ---------------------------------------------------------------- bench ----------------------- */

static int run_chain(void *state)
{
    const struct chain_run *run = state;
    size_t count = 0;
    int status = chain_once(run, &count);
    if (status)
        return fail_status(status);
    return count == run->results ? EXIT_DONE : fail(EXIT_DATA, "%zu results, not %zu", count, run->results);
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    enum { SAMPLES = 1 << 25 };
    const size_t asked = test->chain.filter.samples;
    struct chain_run run;
    double start = seconds_now();
    int status = prepare(&run, &test->chain, asked ? asked : SAMPLES, target);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        const double in_bytes = (double)(run.signal.samples * penstock_format_bytes(test->chain.filter.format)),
                     out_bytes = (double)(run.results * run.result_bytes);
        row->plan_cold_ms = 1e3 * (seconds_now() - start);
        row->batch = run.results;
        row->samples_per_run = (double)run.signal.samples;
        row->bytes_per_sample = (in_bytes + out_bytes) / row->samples_per_run;
        code = bench_measure(row, &(struct workload){run_chain, &run}, NULL, 0.5);
        if (!code)
            bench_stream_limits(row, target, in_bytes, out_bytes);
    }
    release(&run);
    return code;
}

const struct case_kind case_chain = {
    .name = "chain",
    .syntax = "chain:filter:...+spectrum:...",
    .parse = parse,
    .check = check,
    .bench = bench,
};
