/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* channelizer: the polyphase filter bank, pushed in chunks of random size, against its definition in double precision.
 */
#include "bank_signal.h"
#include "bench/bench_stream.h"
#include "enqueued.h"
#include "pass.h"
#include "peers/peers.h"
#include "shared/progress.h"
#include "shared/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    if (!strcmp(word, "run"))
        return bank->run = true;
    if (!strcmp(word, "enqueue"))
        return bank->enqueue = true;
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
    *problem = "one of streams or run, acquire and enqueue";
    return (bank->streams || bank->run) + bank->acquire + bank->enqueue < 2;
}

struct bank_run {
    struct bank_signal signal;
    penstock_cf32 *out; /* frames, or stream by stream */
    penstock_cf32 **streams;
    penstock_stream *stream;
    bool random_chunks;
};

static int prepare(struct bank_run *run, const struct channelizer_case *bank, size_t samples,
                   const struct case_target *target)
{
    *run = (struct bank_run){.out = NULL};
    int status = bank_signal_make(&run->signal, bank, samples);
    if (status)
        return status;
    const size_t kept = run->signal.kept;
    run->out = bank->enqueue ? NULL : malloc((run->signal.frames + 1) * kept * sizeof *run->out);
    run->streams = malloc(kept * sizeof *run->streams);
    if ((!run->out && !bank->enqueue) || !run->streams)
        return PENSTOCK_ERR_MEMORY;
    return bank_signal_open(&run->signal, &run->stream, target);
}

static void release(struct bank_run *run)
{
    penstock_stream_free(run->stream);
    bank_signal_free(&run->signal);
    free(run->out);
    free(run->streams);
}

/* The whole stream once, from reset to end. */
static int stream_once(struct bank_run *run, size_t *count)
{
    const struct bank_signal *signal = &run->signal;
    return pass_run(&(struct pass){.stream = run->stream,
                                   .in = signal->in,
                                   .items = signal->samples,
                                   .in_bytes = penstock_format_bytes(signal->bank->format),
                                   .out = (char *)run->out,
                                   .room = signal->frames + 1,
                                   .out_bytes = signal->kept * sizeof *run->out,
                                   .channels = signal->bank->streams ? (void **)run->streams : NULL,
                                   .channel_count = signal->kept,
                                   .acquire = signal->bank->acquire,
                                   .run = signal->bank->run,
                                   .random_chunk = run->random_chunks ? 9999 : 0},
                    count);
}

/* ---------------------------------------------------------------- check ----------------------- */

/* Relative L2 over a random choice of values. */
static double measure_error(const struct bank_run *run, bool thorough)
{
    const struct bank_signal *signal = &run->signal;
    double difference = 0, power = 0;
    size_t all = signal->frames * signal->kept, count = (thorough ? 20000000 : 2000000) / signal->tap_count + 100;
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)(random_uniform(&seed) * (double)all), m = at / signal->kept, c = at % signal->kept;
        penstock_cf32 got = run->out[signal->bank->streams ? c * (signal->frames + 1) + m : at];
        double y[2];
        bank_signal_value(signal, m, c, y);
        difference += pow((double)got.re - y[0], 2) + pow((double)got.im - y[1], 2);
        power += y[0] * y[0] + y[1] * y[1];
    }
    return sqrt(difference / power);
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    struct channelizer_case bank = test->channelizer;
    struct bank_run run;
    size_t count = 0;
    bank.enqueue = false;
    int status = prepare(&run, &bank, bank.samples ? bank.samples : 20001 + 20 * bank.channels, target);
    const struct bank_signal *signal = &run.signal;
    run.random_chunks = true;
    if (status || (status = stream_once(&run, &count))) {
        verdict_status(verdict, status);
    } else if (count != signal->frames) {
        verdict_failed(verdict, "%zu frames came of %zu samples, not %zu", count, signal->samples, signal->frames);
    } else {
        const double error = measure_error(&run, target->thorough), bound = bank_signal_bound(signal, target);
        if (error <= bound)
            verdict_held(verdict, "error %.2e, bound %.2e, %zu frames of %zu values", error, bound, signal->frames,
                         signal->kept);
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
    return count == run->signal.frames ? EXIT_DONE : fail(EXIT_DATA, "%zu frames, not %zu", count, run->signal.frames);
}

static int measure(struct bank_run *run, struct bench_row *row)
{
    const struct bank_signal *signal = &run->signal;
    const struct channelizer_case *bank = signal->bank;
    const struct peer *peer = row->peer;
    void *state = NULL, *out = NULL;
    if (peer && peer->channelizer_new && bank->format == PENSTOCK_CF32 && !bank->keep &&
        signal->tap_count % bank->channels == 0 &&
        (out = malloc(signal->frames * signal->kept * sizeof(penstock_cf32))))
        state = peer->channelizer_new(signal->taps, signal->tap_count / bank->channels, bank->channels, bank->hop,
                                      signal->in, out, signal->samples);
    int code = bench_measure(row, &(struct workload){run_stream, run},
                             state ? &(struct workload){peer->channelizer_run, state} : NULL, 0.5);
    if (state)
        peer->channelizer_free(state);
    free(out);
    return code;
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct channelizer_case *bank = &test->channelizer;
    const size_t usual = bank->enqueue                        ? enqueued_samples(target)
                         : strncmp(target->device, "cuda", 4) ? (size_t)1 << 20
                                                              : case_bench_samples(target);
    size_t in_bytes = penstock_format_bytes(bank->format);
    struct bank_run run;
    double start = seconds_now();
    int status = prepare(&run, bank, bank->samples ? bank->samples : usual, target);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        const struct bank_signal *signal = &run.signal;
        const double out_bytes = (double)(signal->frames * signal->kept * sizeof(penstock_cf32));
        row->plan_cold_ms = 1e3 * (seconds_now() - start);
        row->batch = signal->frames;
        row->samples_per_run = (double)signal->samples;
        row->bytes_per_sample = (double)in_bytes + out_bytes / (double)signal->samples;
        code = bank->enqueue ? enqueued_bench(target, run.stream, NULL, signal->in, signal->samples, row)
                             : measure(&run, row);
        if (!code && !bank->enqueue)
            bench_stream_limits(row, target, (double)(signal->samples * in_bytes), out_bytes);
    }
    release(&run);
    return code;
}

const struct case_kind case_channelizer = {
    .name = "channelizer",
    .syntax = "channelizer:M[:hopR][:tDEPTH][:keepK][:streams][:run|acquire|enqueue][:cs16|cs8|cu8|f32][:xSAMPLES]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
