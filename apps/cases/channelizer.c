/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* channelizer: the polyphase filter bank, pushed in chunks of random size, against its definition in double precision.
 */
#include "accuracy.h"
#include "bench_stream.h"
#include "cases.h"
#include "pass.h"
#include "peers/peers.h"
#include "progress.h"
#include "random.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { MOST_CHANNELS = 65536, MOST_DEPTH = 1024 };

static bool parse_word(struct channelizer_case *bank, const char *word)
{
    if (parse_count(word, "x", &bank->samples))
        return true;
    if (parse_count(word, "hop", &bank->hop))
        return bank->hop <= bank->channels;
    if (parse_count(word, "t", &bank->depth))
        return bank->depth <= MOST_DEPTH;
    if (parse_count(word, "keep", &bank->keep))
        return bank->keep <= bank->channels;
    if (!strcmp(word, "streams"))
        return bank->streams = true;
    if (!strcmp(word, "acquire"))
        return bank->acquire = true;
    return !penstock_format_parse(&bank->format, word) && bank->format != PENSTOCK_PLANAR;
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct channelizer_case *bank = &test->channelizer;
    *problem = count ? words[0] : "no number of channels";
    if (!count || !parse_count(words[0], "", &bank->channels) || bank->channels < 2 || bank->channels > MOST_CHANNELS)
        return false;
    bank->hop = bank->channels;
    for (size_t i = 1; i < count; i++) {
        *problem = words[i];
        if (!parse_word(bank, words[i]))
            return false;
    }
    *problem = "streams are not lent";
    return !bank->streams || !bank->acquire;
}

struct bank_run {
    const struct channelizer_case *bank;
    size_t samples, frames, kept, tap_count; /* of the stream, and what comes of them */
    void *in;
    penstock_cf32 *out; /* frames, or stream by stream */
    penstock_cf32 **streams;
    float *taps;
    size_t *select;
    penstock_stream *stream;
    bool random_chunks;
};

static int allocate(struct bank_run *run)
{
    run->in = malloc(run->samples * penstock_format_bytes(run->bank->format));
    run->out = malloc((run->frames + 1) * run->kept * sizeof *run->out);
    run->streams = malloc(run->kept * sizeof *run->streams);
    run->taps = malloc(run->tap_count * sizeof *run->taps);
    run->select = malloc(run->kept * sizeof *run->select);
    return run->in && run->out && run->streams && run->taps && run->select ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static int prepare(struct bank_run *run, const struct channelizer_case *bank, size_t samples,
                   const struct case_target *target)
{
    uint64_t seed = bank->channels;
    *run = (struct bank_run){.bank = bank, .samples = samples, .frames = (samples + bank->hop - 1) / bank->hop};
    run->kept = bank->keep ? bank->keep : bank->channels;
    run->tap_count =
        bank->depth ? bank->depth * bank->channels : penstock_channelizer_taps_length(bank->channels, bank->hop);
    int status = allocate(run);
    if (status)
        return status;
    signal_random(run->in, bank->format, samples, &seed);
    for (size_t c = 0; c < run->kept; c++)
        run->select[c] = bank->channels - 1 - c;
    if ((status = penstock_channelizer_taps(run->taps, run->tap_count, bank->channels, bank->hop)))
        return status;
    return penstock_channelizer_open(
        &run->stream, target->context,
        &PENSTOCK_CHANNELIZER_DESC(.channels = bank->channels, .hop = bank->hop, .taps = run->taps,
                                   .tap_count = run->tap_count, .format = bank->format,
                                   .advance = bank->hop - 1 < run->tap_count ? bank->hop - 1 : 0,
                                   .select = bank->keep ? run->select : NULL, .select_count = bank->keep),
        target->device);
}

static void release(struct bank_run *run)
{
    penstock_stream_free(run->stream);
    free(run->in);
    free(run->out);
    free(run->streams);
    free(run->taps);
    free(run->select);
}

/* The whole stream once, from reset to end. */
static int stream_once(struct bank_run *run, size_t *count)
{
    return pass_run(&(struct pass){.stream = run->stream,
                                   .in = run->in,
                                   .items = run->samples,
                                   .in_bytes = penstock_format_bytes(run->bank->format),
                                   .out = (char *)run->out,
                                   .room = run->frames + 1,
                                   .out_bytes = run->kept * sizeof *run->out,
                                   .channels = run->bank->streams ? (void **)run->streams : NULL,
                                   .channel_count = run->kept,
                                   .acquire = run->bank->acquire,
                                   .random_chunk = run->random_chunks ? 9999 : 0},
                    count);
}

/* ---------------------------------------------------------------- check ----------------------- */

/* Value c of frame m, by its definition. */
static void reference(const struct bank_run *run, size_t m, size_t c, double y[2])
{
    const struct channelizer_case *bank = run->bank;
    size_t advance = bank->hop - 1 < run->tap_count ? bank->hop - 1 : 0, p = m * bank->hop + advance;
    size_t k = bank->keep ? run->select[c] : c;
    y[0] = y[1] = 0;
    for (size_t l = 0; l < run->tap_count && l <= p; l++) {
        size_t j = p - l;
        double angle = -2 * PI * (double)(j % bank->channels * k % bank->channels) / (double)bank->channels;
        double x[2], h = (double)run->taps[l];
        if (j >= run->samples)
            continue;
        signal_value(run->in, bank->format, j, run->samples, x);
        y[0] += h * (x[0] * cos(angle) - x[1] * sin(angle));
        y[1] += h * (x[0] * sin(angle) + x[1] * cos(angle));
    }
}

/* Relative L2 over a random choice of values. */
static double measure_error(const struct bank_run *run, bool thorough)
{
    double difference = 0, power = 0;
    size_t all = run->frames * run->kept, count = (thorough ? 20000000 : 2000000) / run->tap_count + 100;
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)(random_uniform(&seed) * (double)all), m = at / run->kept, c = at % run->kept;
        penstock_cf32 got = run->out[run->bank->streams ? c * (run->frames + 1) + m : at];
        double y[2];
        reference(run, m, c, y);
        difference += pow((double)got.re - y[0], 2) + pow((double)got.im - y[1], 2);
        power += y[0] * y[0] + y[1] * y[1];
    }
    return sqrt(difference / power);
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    const struct channelizer_case *bank = &test->channelizer;
    struct bank_run run;
    size_t count = 0;
    int status = prepare(&run, bank, bank->samples ? bank->samples : 20001 + 20 * bank->channels, target);
    run.random_chunks = true;
    if (status || (status = stream_once(&run, &count))) {
        verdict_status(verdict, status);
    } else if (count != run.frames) {
        verdict_failed(verdict, "%zu frames came of %zu samples, not %zu", count, run.samples, run.frames);
    } else {
        double error = measure_error(&run, target->thorough), depth = (double)run.tap_count / (double)bank->channels;
        double bound = 1e-7 * (sqrt(log2((double)bank->channels)) + sqrt(depth) / 4);
        bound *= accuracy_factor(target->device, bank->channels);
        if (error <= bound)
            verdict_held(verdict, "error %.2e, bound %.2e, %zu frames of %zu values", error, bound, run.frames,
                         run.kept);
        else
            verdict_failed(verdict, "error %.2e is above the bound %.2e", error, bound);
    }
    release(&run);
}

/* ---------------------------------------------------------------- bench ----------------------- */

static int run_stream(void *state)
{
    struct bank_run *run = state;
    size_t count = 0;
    int status = stream_once(run, &count);
    if (status)
        return fail_status(status);
    return count == run->frames ? EXIT_DONE : fail(EXIT_DATA, "%zu frames, not %zu", count, run->frames);
}

static int measure(struct bank_run *run, struct bench_row *row)
{
    const struct channelizer_case *bank = run->bank;
    const struct peer *peer = row->peer;
    void *state = NULL, *out = NULL;
    if (peer && peer->channelizer_new && bank->format == PENSTOCK_CF32 && !bank->keep &&
        run->tap_count % bank->channels == 0 && (out = malloc(run->frames * run->kept * sizeof(penstock_cf32))))
        state = peer->channelizer_new(run->taps, run->tap_count / bank->channels, bank->channels, bank->hop, run->in,
                                      out, run->samples);
    int code = bench_measure(row, &(struct workload){run_stream, run},
                             state ? &(struct workload){peer->channelizer_run, state} : NULL, 0.5);
    if (state)
        peer->channelizer_free(state);
    free(out);
    return code;
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const size_t usual = strncmp(target->device, "cuda", 4) ? (size_t)1 << 20 : case_bench_samples(target);
    const struct channelizer_case *bank = &test->channelizer;
    size_t in_bytes = penstock_format_bytes(bank->format);
    struct bank_run run;
    double start = seconds_now();
    int status = prepare(&run, bank, bank->samples ? bank->samples : usual, target);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        double out_bytes = (double)(run.frames * run.kept * sizeof(penstock_cf32));
        row->plan_cold_ms = 1e3 * (seconds_now() - start);
        row->batch = run.frames;
        row->samples_per_run = (double)run.samples;
        row->bytes_per_sample = (double)in_bytes + out_bytes / (double)run.samples;
        code = measure(&run, row);
        if (!code)
            bench_stream_limits(row, target, (double)(run.samples * in_bytes), out_bytes);
    }
    release(&run);
    return code;
}

const struct case_kind case_channelizer = {
    .name = "channelizer",
    .syntax = "channelizer:M[:hopR][:tDEPTH][:keepK][:streams|acquire][:cs16|cs8|cu8|f32][:xSAMPLES]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
