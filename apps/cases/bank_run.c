/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Filter banks, there and back: pushed in pieces of random size and compared, or timed. */
#include "bank_run.h"
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

struct bank_run {
    struct bank_signal signal;
    penstock_cf32 *out; /* room for one item more; frames may be stream by stream */
    const void **from;  /* places for pointers, one a channel, where frames are pushed by channel */
    void **streams;     /* and where they are pulled so */
    penstock_stream *stream;
    bool random_chunks, filled; /* the memory that a stream lends has samples */
};

static int prepare(struct bank_run *run, const struct channelizer_case *bank, size_t samples,
                   const struct case_target *target)
{
    *run = (struct bank_run){.out = NULL};
    int status = bank_signal_make(&run->signal, bank, samples);
    if (status)
        return status;
    run->out = bank->enqueue ? NULL : malloc((run->signal.out_items + 1) * run->signal.out_bytes);
    run->from = malloc(run->signal.kept * sizeof *run->from);
    run->streams = malloc(run->signal.kept * sizeof *run->streams);
    if ((!run->out && !bank->enqueue) || !run->from || !run->streams)
        return PENSTOCK_ERR_MEMORY;
    return bank_signal_open(&run->signal, &run->stream, target);
}

static void release(struct bank_run *run)
{
    penstock_stream_free(run->stream);
    bank_signal_free(&run->signal);
    free(run->out);
    free(run->from);
    free(run->streams);
}

/* The whole stream once, from reset to end. Frames that are pushed come in ten pieces or more. */
static int stream_once(struct bank_run *run, size_t *count)
{
    enum { SAMPLES = 9999, PIECES = 10 };
    const struct bank_signal *signal = &run->signal;
    const struct channelizer_case *bank = signal->bank;
    const size_t most = bank->synthesis ? signal->in_items / PIECES + 1 : SAMPLES;
    return pass_run(&(struct pass){.stream = run->stream,
                                   .in = signal->in,
                                   .items = signal->in_items,
                                   .in_bytes = signal->in_bytes,
                                   .out = (char *)run->out,
                                   .room = signal->out_items + 1,
                                   .out_bytes = signal->out_bytes,
                                   .in_channels = bank->streams && bank->synthesis ? run->from : NULL,
                                   .channels = bank->streams && !bank->synthesis ? run->streams : NULL,
                                   .channel_count = signal->kept,
                                   .acquire = bank->acquire,
                                   .filled = &run->filled,
                                   .run = bank->run,
                                   .random_chunk = run->random_chunks ? most : 0},
                    count);
}

/* ---------------------------------------------------------------- check ----------------------- */

/* Relative L2 over a random choice of values. */
static double measure_error(const struct bank_run *run, bool thorough)
{
    const struct bank_signal *signal = &run->signal;
    const bool by_channel = signal->bank->streams && !signal->bank->synthesis;
    const size_t values = signal->out_bytes / sizeof *run->out, all = signal->out_items * values,
                 count = (thorough ? 20000000 : 2000000) / bank_signal_products(signal) + 100;
    double difference = 0, power = 0;
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)(random_uniform(&seed) * (double)all), m = at / values, c = at % values;
        penstock_cf32 got = run->out[by_channel ? c * (signal->out_items + 1) + m : at];
        double y[2];
        bank_signal_value(signal, m, c, y);
        difference += pow((double)got.re - y[0], 2) + pow((double)got.im - y[1], 2);
        power += y[0] * y[0] + y[1] * y[1];
    }
    return sqrt(difference / power);
}

static void compare(const struct bank_run *run, const struct case_target *target, struct case_verdict *verdict)
{
    const struct bank_signal *signal = &run->signal;
    const double error = measure_error(run, target->thorough), bound = bank_signal_bound(signal, target);
    if (error <= bound)
        verdict_held(verdict, "error %.2e, bound %.2e, %zu frames of %zu values", error, bound, signal->frames,
                     signal->kept);
    else
        verdict_failed(verdict, "error %.2e is above the bound %.2e", error, bound);
}

void bank_check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    struct channelizer_case bank = test->channelizer;
    struct bank_run run;
    size_t count = 0;
    bank.enqueue = false;
    int status = prepare(&run, &bank, bank.samples ? bank.samples : 20001 + 20 * bank.channels, target);
    const struct bank_signal *signal = &run.signal;
    run.random_chunks = true;
    if (status || (status = stream_once(&run, &count)))
        verdict_status(verdict, status);
    else if (count != signal->out_items)
        verdict_failed(verdict, "%zu %s came of %zu %s, not %zu", count, bank.synthesis ? "samples" : "frames",
                       signal->in_items, bank.synthesis ? "frames" : "samples", signal->out_items);
    else
        compare(&run, target, verdict);
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
    if (count == run->signal.out_items)
        return EXIT_DONE;
    return fail(EXIT_DATA, "%zu %s, not %zu", count, run->signal.bank->synthesis ? "samples" : "frames",
                run->signal.out_items);
}

static int measure(struct bank_run *run, struct bench_row *row)
{
    const struct bank_signal *signal = &run->signal;
    const struct channelizer_case *bank = signal->bank;
    const struct peer *peer = row->peer;
    void *state = NULL, *out = NULL;
    if (peer && peer->channelizer_new && !bank->synthesis && bank->format == PENSTOCK_CF32 && !bank->keep &&
        signal->tap_count % bank->channels == 0 && (out = malloc(signal->out_items * signal->out_bytes)))
        state = peer->channelizer_new(signal->taps, signal->tap_count / bank->channels, bank->channels, bank->hop,
                                      signal->in, out, signal->samples);
    int code = bench_measure(row, &(struct workload){run_stream, run},
                             state ? &(struct workload){peer->channelizer_run, state} : NULL, 0.5);
    if (state)
        peer->channelizer_free(state);
    free(out);
    return code;
}

int bank_bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct channelizer_case *bank = &test->channelizer;
    const size_t usual = bank->enqueue                        ? enqueued_samples(target)
                         : strncmp(target->device, "cuda", 4) ? (size_t)1 << 20
                                                              : case_bench_samples(target);
    struct bank_run run;
    double start = seconds_now();
    int status = prepare(&run, bank, bank->samples ? bank->samples : usual, target);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        const struct bank_signal *signal = &run.signal;
        const double in_bytes = (double)(signal->in_items * signal->in_bytes),
                     out_bytes = (double)(signal->out_items * signal->out_bytes);
        row->plan_cold_ms = 1e3 * (seconds_now() - start);
        row->batch = signal->frames;
        row->samples_per_run = (double)signal->samples;
        row->bytes_per_sample = (in_bytes + out_bytes) / row->samples_per_run;
        code = bank->enqueue ? enqueued_bench(target, run.stream, NULL, signal->in, signal->samples, row)
                             : measure(&run, row);
        if (!code && !bank->enqueue)
            bench_stream_limits(row, target, in_bytes, out_bytes);
    }
    release(&run);
    return code;
}
