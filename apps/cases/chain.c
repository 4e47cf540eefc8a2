/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* chain: a filter or a filter bank linked to a stream of spectra or vectors, against the definitions of both in double
 * precision; chain_coded.c has OFDM symbols and what decodes their bits. */
#include "accuracy.h"
#include "bank_signal.h"
#include "bench/bench_stream.h"
#include "chain_coded.h"
#include "enqueued.h"
#include "filter_signal.h"
#include "pass.h"
#include "shared/progress.h"
#include "spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "filter:...+spectrum:...": the words of each are its own. The first one's last is number `at`. */
static bool find_both(char *const *words, size_t count, size_t *at, const char **problem)
{
    char *plus = NULL;
    *at = 0;
    while (*at < count && !(plus = strchr(words[*at], '+')))
        ++*at;
    *problem = "a chain is filter:...+spectrum:..., channelizer:...+spectrum:... or ofdm:...+viterbi:...";
    if (!plus || !*at)
        return false;
    const bool coded = !strcmp(words[0], "ofdm");
    if (strcmp(plus, coded ? "+viterbi" : "+spectrum") ||
        (!coded && strcmp(words[0], "filter") && strcmp(words[0], "channelizer")))
        return false;
    *plus = '\0';
    return true;
}

static bool parse_both(struct test_case *first, struct test_case *second, char *const *words, size_t at, size_t count,
                       const char **problem)
{
    first->kind = *words[0] == 'f' ? &case_filter : &case_channelizer;
    return first->kind->parse(first, words + 1, at, problem) &&
           case_spectrum.parse(second, words + at + 1, count - at - 1, problem);
}

static bool check_filter(const struct filter_case *filter, const char **problem)
{
    *problem = "a chain's filter has one channel of complex values and no stream";
    return filter->channels <= 1 && !filter->stream && filter->format != PENSTOCK_F32;
}

static bool check_bank(const struct channelizer_case *bank, const char **problem)
{
    *problem = "a chain's filter bank has all channels, in frames";
    return !bank->keep && !bank->streams && !bank->run;
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct test_case first = {0}, second = {0};
    size_t at;
    if (!find_both(words, count, &at, problem))
        return false;
    if (*words[0] == 'o')
        return chain_coded_parse(test, words, at, count, problem);
    if (!parse_both(&first, &second, words, at, count, problem))
        return false;
    test->chain = (struct chain_case){.has_bank = first.kind == &case_channelizer, .spectrum = second.spectrum};
    struct spectrum_case *spectrum = &test->chain.spectrum;
    if (test->chain.has_bank) {
        test->chain.bank = first.channelizer;
        spectrum->channels = first.channelizer.channels;
    } else {
        test->chain.filter = first.filter;
    }
    if (!(test->chain.has_bank ? check_bank(&test->chain.bank, problem) : check_filter(&test->chain.filter, problem)))
        return false;
    *problem = "a chain's samples, their format and acquire are told by the first one's words";
    if (spectrum->batch || spectrum->acquire || spectrum->format)
        return false;
    *problem = "channels have spectra, which do not leave samples out, and no vectors";
    if (test->chain.has_bank && (spectrum->vectors || spectrum->hop > spectrum->n))
        return false;
    *problem = "decibels of filtered values have no bound";
    return spectrum->output != PENSTOCK_OUTPUT_DECIBEL;
}

struct chain_run {
    const struct chain_case *chain;
    struct filter_signal filter; /* or */
    struct bank_signal bank;
    const void *in; /* of either */
    size_t samples, in_bytes, channels;
    bool acquire, enqueue;
    struct stored stored;         /* of a channel */
    size_t results, result_bytes; /* that come of all samples, and of all channels */
    penstock_stream *first, *second;
    penstock_filter_info info;
    float *window;
    char *out;                  /* room for one more */
    bool random_chunks, filled; /* the memory that a stream lends has samples */
};

static size_t results_of(const struct spectrum_case *spectrum, size_t values)
{
    return values < spectrum->n ? 0 : ((values - spectrum->n) / spectrum->hop + 1) / spectrum->average;
}

/* The samples, and how many values come of them in each channel. */
static int make_signal(struct chain_run *run, size_t samples, size_t *values)
{
    const struct chain_case *chain = run->chain;
    const bool bank = chain->has_bank;
    int status = bank ? bank_signal_make(&run->bank, &chain->bank, samples)
                      : filter_signal_make(&run->filter, &chain->filter, samples);
    *values = bank ? run->bank.frames : run->filter.values;
    run->samples = samples;
    run->in = bank ? run->bank.in : run->filter.in;
    run->in_bytes = penstock_format_bytes(bank ? chain->bank.format : chain->filter.format);
    run->channels = bank ? chain->bank.channels : 1;
    run->acquire = bank ? chain->bank.acquire : chain->filter.acquire;
    run->enqueue = bank ? chain->bank.enqueue : chain->filter.enqueue;
    return status;
}

static int open_streams(struct chain_run *run, const struct case_target *target)
{
    int status = run->chain->has_bank ? bank_signal_open(&run->bank, &run->first, target)
                                      : filter_signal_open(&run->filter, &run->first, target);
    if (!status && !run->chain->has_bank)
        status = penstock_filter_get_info(run->first, &run->info);
    if (status || (status = spectrum_case_open(&run->second, &run->window, &run->chain->spectrum, target)))
        return status;
    return run->enqueue ? PENSTOCK_OK : penstock_stream_link(run->first, run->second);
}

static int prepare(struct chain_run *run, const struct chain_case *chain, size_t samples,
                   const struct case_target *target)
{
    size_t values;
    *run = (struct chain_run){.chain = chain,
                              .stored = {.n = chain->spectrum.n, .output = chain->spectrum.output},
                              .info = PENSTOCK_FILTER_INFO};
    int status = make_signal(run, samples, &values);
    if (status)
        return status;
    run->results = results_of(&chain->spectrum, values);
    run->result_bytes = run->channels * stored_count(&run->stored) * stored_bytes(&run->stored);
    run->out = malloc((run->results + 1) * run->result_bytes);
    return run->out ? open_streams(run, target) : PENSTOCK_ERR_MEMORY;
}

static void release(struct chain_run *run)
{
    penstock_stream_free(run->first);
    penstock_stream_free(run->second);
    filter_signal_free(&run->filter);
    bank_signal_free(&run->bank);
    free(run->window);
    free(run->out);
}

/* All samples once, from reset to end. */
static int chain_once(struct chain_run *run, size_t *count)
{
    enum { RANDOM_CHUNK = 9999 };
    return pass_run(&(struct pass){.stream = run->first,
                                   .last = run->second,
                                   .in = run->in,
                                   .items = run->samples,
                                   .in_bytes = run->in_bytes,
                                   .out = run->out,
                                   .room = run->results + 1,
                                   .out_bytes = run->result_bytes,
                                   .acquire = run->acquire,
                                   .filled = &run->filled,
                                   .random_chunk = run->random_chunks ? RANDOM_CHUNK : 0},
                    count);
}

/* ---------------------------------------------------------------- check ----------------------- */

/* The windowed frames of a result, of a channel's values by the definition. */
static void load_frames(const struct chain_run *run, size_t result, size_t channel, double *frames)
{
    const struct spectrum_case *s = &run->chain->spectrum;
    for (size_t f = 0; f < s->average; f++)
        for (size_t j = 0; j < s->n; j++, frames += 2) {
            const size_t value = (result * s->average + f) * s->hop + j;
            if (run->chain->has_bank)
                bank_signal_value(&run->bank, value, channel, frames);
            else
                filter_signal_value(&run->filter, channel, value * run->chain->filter.decimation, frames);
            frames[0] *= run->window[j];
            frames[1] *= run->window[j];
        }
}

/* A channel's vector, whose values have those of the other channels between them. */
static void take_vector(const struct chain_run *run, size_t result, size_t channel, char *vector)
{
    const size_t bytes = stored_bytes(&run->stored), channels = run->channels;
    const char *from = run->out + result * run->result_bytes + channel * bytes;
    for (size_t k = 0; k < stored_count(&run->stored); k++)
        memcpy(vector + k * bytes, from + k * channels * bytes, bytes);
}

static double values_bound(const struct chain_run *run, const struct case_target *target)
{
    return run->chain->has_bank ? bank_signal_bound(&run->bank, target) : filter_signal_bound(target, run->info.n);
}

/* Of many results every few one, and of each one channel. What the values are off by is in the spectra as it is, and
 * twice in powers. */
static void compare(const struct chain_run *run, const struct case_target *target, struct case_verdict *verdict)
{
    enum { COMPARED = 16, STEP = 7 };
    const size_t step = target->thorough ? 1 : run->results / COMPARED + 1;
    struct accuracy accuracy;
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    double *frames = malloc(2 * run->chain->spectrum.average * run->chain->spectrum.n * sizeof *frames);
    char *vector = malloc(run->result_bytes);
    if (!frames || !vector || !accuracy_init(&accuracy, &run->stored, target->thorough, run->stored.n)) {
        verdict_failed(verdict, "out of memory");
        free(frames);
        free(vector);
        return;
    }
    for (size_t i = 0; i < run->results; i += step) {
        const size_t channel = i * STEP % run->channels;
        load_frames(run, i, channel, frames);
        take_vector(run, i, channel, vector);
        accuracy_add(&accuracy, frames, run->chain->spectrum.average, vector);
    }
    const double error = accuracy_error(&accuracy),
                 bound = accuracy_bound(&accuracy, target->device) + 2 * values_bound(run, target);
    penstock_stream_get_stats(run->second, &stats);
    if (error <= bound)
        verdict_held(verdict, "error %.2e, bound %.2e, %zu results; %.0f %% handed over within the device", error,
                     bound, run->results, stats.in ? 100.0 * (double)stats.handed_over / (double)stats.in : 0);
    else
        verdict_failed(verdict, "error %.2e is above the bound %.2e", error, bound);
    accuracy_free(&accuracy);
    free(frames);
    free(vector);
}

static size_t asked_samples(const struct chain_case *chain)
{
    return chain->has_bank ? chain->bank.samples : chain->filter.samples;
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    enum { RESULTS = 9 };
    if (test->chain.is_coded) {
        chain_coded_check(&test->chain.coded, target, verdict);
        return;
    }
    struct chain_case chain = test->chain;
    const struct spectrum_case *spectrum = &chain.spectrum;
    const size_t values = (RESULTS * spectrum->average - 1) * spectrum->hop + spectrum->n + spectrum->hop / 2,
                 asked = asked_samples(&chain), each = chain.has_bank ? chain.bank.hop : chain.filter.decimation;
    struct chain_run run;
    size_t count = 0;
    chain.bank.enqueue = chain.filter.enqueue = false;
    int status = prepare(&run, &chain, asked ? asked : values * each, target);
    run.random_chunks = true;
    if (status || (status = chain_once(&run, &count)))
        verdict_status(verdict, status);
    else if (count != run.results)
        verdict_failed(verdict, "%zu results came of %zu samples, not %zu", count, run.samples, run.results);
    else
        compare(&run, target, verdict);
    release(&run);
}

/* ---------------------------------------------------------------- bench ----------------------- */

static int run_chain(void *state)
{
    struct chain_run *run = state;
    size_t count = 0;
    int status = chain_once(run, &count);
    if (status)
        return fail_status(status);
    return count == run->results ? EXIT_DONE : fail(EXIT_DATA, "%zu results, not %zu", count, run->results);
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    enum { SAMPLES = 1 << 25 };
    if (test->chain.is_coded)
        return chain_coded_bench(&test->chain.coded, target, row);
    const size_t asked = asked_samples(&test->chain),
                 usual = test->chain.bank.enqueue || test->chain.filter.enqueue ? enqueued_samples(target) : SAMPLES;
    struct chain_run run;
    double start = seconds_now();
    int status = prepare(&run, &test->chain, asked ? asked : usual, target);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        const double in_bytes = (double)(run.samples * run.in_bytes),
                     out_bytes = (double)(run.results * run.result_bytes);
        row->plan_cold_ms = 1e3 * (seconds_now() - start);
        row->batch = run.results;
        row->samples_per_run = (double)run.samples;
        row->bytes_per_sample = (in_bytes + out_bytes) / row->samples_per_run;
        code = run.enqueue ? enqueued_bench(target, run.first, run.second, run.in, run.samples, row)
                           : bench_measure(row, &(struct workload){run_chain, &run}, NULL, 0.5);
        if (!code && !run.enqueue)
            bench_stream_limits(row, target, in_bytes, out_bytes);
    }
    release(&run);
    return code;
}

const struct case_kind case_chain = {
    .name = "chain",
    .syntax = "chain:filter|channelizer:...+spectrum:... or chain:ofdm:...[:acquire|enqueue]+viterbi:...",
    .parse = parse,
    .check = check,
    .bench = bench,
};
