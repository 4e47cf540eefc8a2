/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* filter: the streaming FIR filter, pushed in chunks of random size, against its definition in double precision. */
#include "bench/bench_on_device.h"
#include "bench/bench_stream.h"
#include "cases.h"
#include "copy_stream.h"
#include "enqueued.h"
#include "filter_signal.h"
#include "flow.h"
#include "lent.h"
#include "peers/peers.h"
#include "shared/progress.h"
#include "shared/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TAPS = 1 << 20, MOST_INTERPOLATION = 1024, MOST_LENGTH = 1 << 23 };

/* "ccf": complex samples, complex values, real taps, as GNU Radio names its filters. */
static bool parse_type(struct filter_case *filter, const char *word)
{
    if (strcmp(word, "ccf") && strcmp(word, "ccc") && strcmp(word, "fff"))
        return false;
    filter->format = word[0] == 'f' ? PENSTOCK_F32 : PENSTOCK_CF32;
    filter->real_taps = word[2] == 'f';
    return true;
}

static bool parse_word(struct filter_case *filter, const char *word)
{
    if (parse_count(word, "x", &filter->samples))
        return true;
    if (parse_count(word, "d", &filter->decimation) || parse_count(word, "n", &filter->n))
        return filter->decimation <= MOST_TAPS;
    if (parse_count(word, "i", &filter->interpolation))
        return filter->interpolation <= MOST_INTERPOLATION;
    if (parse_count(word, "c", &filter->channels))
        return filter->channels <= CASE_MOST_CHANNELS;
    if (!strcmp(word, "acquire"))
        return filter->acquire = true;
    if (!strcmp(word, "push"))
        return filter->push = true;
    if (!strcmp(word, "enqueue"))
        return filter->enqueue = true;
    if (!strcmp(word, "stream"))
        return filter->stream = true; /* a stream of the library that copies is the peer */
    if (!strcmp(word, "shift") && filter->format != PENSTOCK_F32) {
        filter->shift = 0.1234567;
        return true;
    }
    return filter->format != PENSTOCK_F32 && !penstock_format_parse(&filter->format, word) &&
           filter->format != PENSTOCK_F32 && filter->format != PENSTOCK_PLANAR;
}

/* A length that is asked for has room for all taps, or for partitions of them (penstock_filter_desc.n). */
static bool length_fits(const struct filter_case *filter)
{
    const size_t up = filter->interpolation, whole = (filter->taps + up - 1) / up + 2 * filter->decimation;
    return !filter->n ||
           (filter->n <= MOST_LENGTH / up && (filter->n >= whole || (up == 1 && filter->n >= 32 * filter->decimation)));
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct filter_case *filter = &test->filter;
    *problem = count ? words[0] : "no type";
    if (!count || !parse_type(filter, words[0]))
        return false;
    *problem = count > 1 ? words[1] : "no number of taps";
    if (count < 2 || !parse_count(words[1], "", &filter->taps) || filter->taps > MOST_TAPS)
        return false;
    filter->decimation = filter->interpolation = filter->channels = 1;
    for (size_t i = 2; i < count; i++) {
        *problem = words[i];
        if (!parse_word(filter, words[i]))
            return false;
    }
    *problem = "acquire and enqueue go with one channel";
    if ((filter->acquire || filter->enqueue) && filter->channels > 1)
        return false;
    *problem = "push, acquire, enqueue and stream do not go with one another";
    if (filter->push + filter->acquire + filter->enqueue + filter->stream > 1)
        return false;
    *problem = "n is TAPS / INTERPOLATION + 2 DECIMATION or, without interpolation, 32 DECIMATION at the least, "
               "and 8388608 / INTERPOLATION at the most";
    if (!length_fits(filter))
        return false;
    *problem = "no channels of real values";
    return filter->format != PENSTOCK_F32 || filter->channels == 1;
}

struct filter_run {
    const struct filter_case *filter;
    struct filter_signal signal;
    char *out; /* room for values + 1 of each channel */
    penstock_stream *stream;
    penstock_filter_info info;
    bool random_chunks, filled; /* the memory that a stream lends has samples */
};

static int prepare(struct filter_run *run, const struct filter_case *filter, size_t samples,
                   const struct case_target *target)
{
    *run = (struct filter_run){.filter = filter, .info = PENSTOCK_FILTER_INFO};
    int status = filter_signal_make(&run->signal, filter, samples);
    if (status)
        return status;
    if (!(run->out = malloc(filter->channels * (run->signal.values + 1) * sizeof(penstock_cf32))))
        return PENSTOCK_ERR_MEMORY;
    status = filter_signal_open(&run->signal, &run->stream, target);
    return status ? status : penstock_filter_get_info(run->stream, &run->info);
}

static void release(struct filter_run *run)
{
    penstock_stream_free(run->stream);
    filter_signal_free(&run->signal);
    free(run->out);
}

/* Where value `at` of each channel goes. */
static void places(const struct filter_run *run, size_t at, void *values[CASE_MOST_CHANNELS])
{
    for (size_t c = 0; c < run->filter->channels; c++)
        values[c] = run->out + (c * (run->signal.values + 1) + at) * run->info.value_bytes;
}

/* Takes what is ready, `most` at a time; `*count` grows, and passes run->signal.values by one at most. */
static int pull(struct filter_run *run, size_t most, bool wait, size_t *count)
{
    void *values[CASE_MOST_CHANNELS];
    size_t got = 0;
    int status;
    do {
        size_t room = run->signal.values + 1 - *count;
        places(run, *count, values);
        status = run->filter->acquire
                     ? lent_pull(run->stream, run->random_chunks, values[0], room, wait, &got)
                     : penstock_stream_pull_channels(run->stream, values, room < most ? room : most, wait, &got);
        *count += got;
    } while (!status && got && *count <= run->signal.values);
    return status;
}

/* One chunk, by one call or by two. */
static int give(struct filter_run *run, const void *samples, size_t chunk, bool apart, size_t *taken, size_t *count)
{
    void *values[CASE_MOST_CHANNELS];
    size_t made = 0;
    if (apart) {
        int status = run->filter->acquire
                         ? lent_push(run->stream, run->random_chunks || !run->filled, samples, chunk, taken)
                         : penstock_stream_push(run->stream, samples, chunk, taken);
        return status ? status : pull(run, run->filter->push ? SIZE_MAX : SCHEDULER_CHUNK, false, count);
    }
    places(run, *count, values);
    int status = penstock_stream_run_channels(run->stream, samples, chunk, taken, values,
                                              run->signal.values + 1 - *count, &made);
    *count += made;
    return status;
}

/* The whole stream once, from reset to end. */
static int stream_once(struct filter_run *run, size_t *count)
{
    size_t done = 0, bytes = penstock_format_bytes(run->filter->format);
    const bool many = run->filter->push || run->filter->acquire; /* or what the stream lends */
    const size_t whole = run->filter->stream ? SCHEDULER_CHUNK : many ? flow_most_bytes() / bytes : 65536;
    uint64_t seed = 1;
    int status = penstock_stream_reset(run->stream);
    *count = 0;
    while (!status && done < run->signal.samples && *count <= run->signal.values) {
        size_t chunk = run->random_chunks ? 1 + (size_t)(random_uniform(&seed) * 9999) : whole;
        size_t taken = 0, left = run->signal.samples - done;
        bool apart = run->random_chunks ? random_uniform(&seed) < 0.5 : run->filter->stream;
        apart = apart || run->filter->acquire || run->filter->push;
        status =
            give(run, (const char *)run->signal.in + done * bytes, chunk < left ? chunk : left, apart, &taken, count);
        done += taken;
    }
    run->filled = true;
    if (!status)
        status = penstock_stream_finish(run->stream);
    return status ? status : pull(run, run->signal.values + 1, true, count);
}

/* ---------------------------------------------------------------- check ----------------------- */

/* Relative L2 over all values, or over a random choice of them where sums are long. */
static double measure_error(const struct filter_run *run, bool thorough)
{
    enum { CHOSEN = 400 };
    double difference = 0, power = 0;
    uint64_t seed = 1;
    size_t count = thorough || run->signal.values * run->filter->taps < 4000000 ? run->signal.values : CHOSEN;
    for (size_t i = 0; i < count; i++) {
        size_t m = count == run->signal.values ? i : (size_t)(random_uniform(&seed) * (double)run->signal.values);
        void *values[CASE_MOST_CHANNELS];
        places(run, m, values);
        for (size_t c = 0; c < run->filter->channels; c++) {
            const float *got = values[c];
            double y[2], im;
            filter_signal_value(&run->signal, c, m * run->filter->decimation, y);
            im = run->info.real ? 0 : (double)got[1];
            difference += ((double)got[0] - y[0]) * ((double)got[0] - y[0]) + (im - y[1]) * (im - y[1]);
            power += y[0] * y[0] + y[1] * y[1];
        }
    }
    return sqrt(difference / power);
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    const struct filter_case *filter = &test->filter;
    struct filter_run run;
    size_t count = 0;
    int status = prepare(&run, filter, filter->samples ? filter->samples : 20001 + 3 * filter->taps, target);
    run.random_chunks = true;
    if (status || (status = stream_once(&run, &count))) {
        verdict_status(verdict, status);
    } else if (count != run.signal.values) {
        verdict_failed(verdict, "%zu values came of %zu samples, not %zu", count, run.signal.samples,
                       run.signal.values);
    } else {
        double error = measure_error(&run, target->thorough), bound = filter_signal_bound(target, run.info.n);
        if (error <= bound)
            verdict_held(verdict, "error %.2e, bound %.2e, %zu values by transforms of %zu", error, bound,
                         run.signal.values, run.info.n);
        else
            verdict_failed(verdict, "error %.2e is above the bound %.2e", error, bound);
    }
    release(&run);
}

/* ---------------------------------------------------------------- bench ----------------------- */

static int run_stream(void *state)
{
    struct filter_run *run = state;
    size_t count = 0;
    int status = stream_once(run, &count);
    if (status)
        return fail_status(status);
    return count == run->signal.values ? EXIT_DONE : fail(EXIT_DATA, "%zu values, not %zu", count, run->signal.values);
}

static int measure(struct filter_run *run, struct bench_row *row)
{
    const struct filter_case *filter = run->filter;
    const struct peer *peer = row->peer;
    void *state = NULL, *out = NULL;
    if (peer && peer->filter_new && filter->format == PENSTOCK_CF32 && filter->real_taps && filter->shift == 0 &&
        filter->interpolation == 1 && filter->channels == 1 &&
        (out = malloc(run->signal.samples * sizeof(penstock_cf32))))
        state = peer->filter_new(run->signal.real_taps, filter->taps, filter->decimation, run->signal.in, out,
                                 run->signal.samples);
    int code = bench_measure(row, &(struct workload){run_stream, run},
                             state ? &(struct workload){peer->filter_run, state} : NULL, 0.5);
    if (state)
        peer->filter_free(state);
    free(out);
    return code;
}

static int enqueue(void *argument, size_t blocks, const penstock_buffer *in, penstock_buffer *out,
                   penstock_queue *queue)
{
    const struct filter_run *run = argument;
    return penstock_filter_enqueue(run->stream, in, out, 0, blocks, queue);
}

/* The taps' spectrum over n, on the CPU. */
static int make_response(const struct filter_run *run, const struct case_target *target, penstock_cf32 *response)
{
    size_t n = run->info.n;
    penstock_cf32 *padded = calloc(n, sizeof *padded);
    penstock_plan *plan = NULL;
    int status =
        padded ? penstock_fft_plan(&plan, target->context, &PENSTOCK_FFT_DESC(.n = n), "cpu") : PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < run->filter->taps && !status; k++) {
        padded[k].re = (run->filter->real_taps ? run->signal.real_taps[k] : run->signal.taps[k].re) / (float)n;
        padded[k].im = (run->filter->real_taps ? 0 : run->signal.taps[k].im) / (float)n;
    }
    if (!status)
        status = penstock_plan_run(plan, padded, response, 1);
    penstock_plan_free(plan);
    free(padded);
    return status ? fail_status(status) : EXIT_DONE;
}

/* Nothing but what the peers' transforms and kernels do. */
static bool is_plain(const struct filter_run *run)
{
    const struct filter_case *filter = run->filter;
    return filter->format == PENSTOCK_CF32 && filter->decimation == 1 && filter->interpolation == 1 &&
           filter->shift == 0 && run->info.block % 2 == 0 && run->info.n >= filter->taps + run->info.block - 1;
}

static int measure_on_device(struct filter_run *run, const struct case_target *target, struct bench_row *row)
{
    penstock_cf32 *response = calloc(run->info.n, sizeof *response);
    bool done = false, plain = is_plain(run);
    int code = !response ? fail(EXIT_DATA, "out of memory") : plain ? make_response(run, target, response) : EXIT_DONE;
    struct device_bench bench = {.enqueue = enqueue,
                                 .argument = run,
                                 .device = run->info.device,
                                 .format = run->filter->format,
                                 .frame_samples = run->info.block,
                                 .average = 1,
                                 .output_bytes = run->info.block * run->filter->interpolation /
                                                 run->filter->decimation * run->info.value_bytes,
                                 .overlap_samples = run->info.reads - run->info.block,
                                 .for_peer = plain};
    bench.work = (struct device_work){
        .kind = DEVICE_WORK_FILTER, .n = run->info.n, .spacing = run->info.block, .response = response};
    if (!code)
        code = bench_on_device(row, target, &bench, &done);
    free(response);
    return code;
}

static size_t usual_samples(const struct filter_case *filter, bool streamed, const struct case_target *target)
{
    enum { SAMPLES = 1 << 20, STREAM_SAMPLES = 1 << 24 };
    return filter->enqueue ? enqueued_samples(target) : streamed ? STREAM_SAMPLES : SAMPLES;
}

/* All of a stream, from host to host or within the device. */
static int measure_stream(struct filter_run *run, const struct case_target *target, struct bench_row *row)
{
    const struct filter_signal *signal = &run->signal;
    if (run->filter->enqueue)
        return enqueued_bench(target, run->stream, NULL, signal->in, signal->samples, row);
    return run->filter->stream
               ? copy_stream_bench(row, target, &(struct workload){run_stream, run}, signal->in, signal->samples)
               : measure(run, row);
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct filter_case *filter = &test->filter;
    const bool streamed = filter->stream || filter->acquire || filter->push;
    const size_t usual = usual_samples(filter, streamed, target);
    struct filter_run run;
    double start = seconds_now();
    int status = prepare(&run, filter, filter->samples ? filter->samples : usual, target);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        row->plan_cold_ms = 1e3 * (seconds_now() - start);
        row->batch = run.signal.values;
        row->samples_per_run = (double)run.signal.samples;
        row->bytes_per_sample =
            (double)penstock_format_bytes(filter->format) +
            (double)(filter->channels * run.signal.values * run.info.value_bytes) / (double)run.signal.samples;
        code = measure_stream(&run, target, row);
        bool once = filter->channels == 1 && !streamed && !filter->enqueue;
        if (!code && once && !(row->peer && row->peer->filter_new))
            code = measure_on_device(&run, target, row);
        if (!code && (streamed || (!filter->enqueue && !strcmp(target->device, "cpu"))))
            bench_stream_limits(row, target, (double)(run.signal.samples * penstock_format_bytes(filter->format)),
                                (double)(filter->channels * run.signal.values * run.info.value_bytes));
    }
    release(&run);
    return code;
}

const struct case_kind case_filter = {
    .name = "filter",
    .syntax = "filter:ccf|ccc|fff:TAPS[:dDECIMATION][:iINTERPOLATION][:nLENGTH][:cCHANNELS][:shift][:cs16|cs8|cu8]"
              "[:push|stream|acquire|enqueue][:xSAMPLES]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
