/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* fft: batched transforms, with every load and store stage (their words: fft_words.c). */
#include "accuracy.h"
#include "bench/bench_beside.h"
#include "bench/bench_on_device.h"
#include "cases.h"
#include "peers/peers.h"
#include "shared/progress.h"
#include "shared/random.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 64, GUARD = 0xa5 };

/* A case with what one run of it needs. */
struct fft_run {
    const struct fft_case *fft;
    struct stored stored;
    size_t frames, in_values, samples; /* transforms; values of one transform's input; samples in all */
    float *window;
    penstock_context *context; /* that `in` and `out` are from; NULL: ordinary memory */
    void *in, *out;
    size_t out_bytes;
    penstock_plan *plan;
};

static bool is_half_spectrum(const struct fft_case *fft)
{
    return fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE;
}

static int make_plan(struct fft_run *run, const struct case_target *target)
{
    const struct fft_case *fft = run->fft;
    return penstock_fft_plan(
        &run->plan, target->context,
        &PENSTOCK_FFT_DESC(
                .n = fft->n, .direction = fft->direction, .domain = fft->domain,
                .load = {.format = fft->format, .window = run->window, .skip = fft->skip},
                .store = {.output = fft->output, .centered = fft->centered, .half = fft->half, .average = fft->average},
                .batch = run->frames, .rows = fft->rows, .columns = fft->columns, .options = fft->options,
                .tune = fft->tuned),
        target->device);
}

/* Timed from memory that the device reaches by itself; verified from ordinary memory. */
static int allocate(struct fft_run *run, const struct case_target *target, bool reached, size_t in_bytes)
{
    size_t in_all = (in_bytes + 63) / 64 * 64, out_all = (run->out_bytes + GUARD_BYTES + 63) / 64 * 64;
    run->context = reached ? target->context : NULL;
    if (!reached) {
        run->in = aligned_alloc(64, in_all);
        run->out = aligned_alloc(64, out_all);
        return run->in && run->out ? EXIT_DONE : fail(EXIT_DATA, "out of memory");
    }
    int status = penstock_host_memory_new(&run->in, target->context, target->device, in_all);
    if (!status)
        status = penstock_host_memory_new(&run->out, target->context, target->device, out_all);
    return status ? fail_status(status) : EXIT_DONE;
}

static int prepare(struct fft_run *run, const struct fft_case *fft, size_t frames, const struct case_target *target,
                   bool reached)
{
    uint64_t seed = fft->n;
    size_t average = fft->average ? fft->average : 1;
    *run = (struct fft_run){.fft = fft,
                            .stored = {fft->n, fft->domain, fft->direction, fft->output, fft->centered, fft->rows,
                                       fft->columns, fft->half, fft->options.arithmetic == PENSTOCK_ARITHMETIC_HALF}};
    run->frames = (frames + average - 1) / average * average;
    run->in_values = is_half_spectrum(fft) ? fft->n / 2 + 1 : fft->n;
    run->samples = run->frames * (run->in_values + fft->skip);
    run->out_bytes = run->frames / average * stored_count(&run->stored) * stored_bytes(&run->stored);
    size_t in_bytes = run->samples * penstock_format_bytes(fft->format);
    int code = allocate(run, target, reached, in_bytes);
    if (code)
        return code;
    run->window = *fft->window ? malloc(fft->n * sizeof *run->window) : NULL;
    if (*fft->window && !run->window)
        return fail(EXIT_DATA, "out of memory");
    if (run->window && penstock_window_fill(run->window, fft->n, fft->window))
        return fail_status(PENSTOCK_ERR_ARGUMENT);
    signal_random(run->in, fft->format, run->samples, &seed);
    memset(run->out, GUARD, run->out_bytes + GUARD_BYTES);
    return EXIT_DONE;
}

static void release(struct fft_run *run)
{
    penstock_plan_free(run->plan);
    if (run->context) {
        penstock_host_memory_free(run->context, run->in);
        penstock_host_memory_free(run->context, run->out);
    } else {
        free(run->in);
        free(run->out);
    }
    free(run->window);
}

/* The samples of output `index`, windowed, as the definition has them. */
static void load_frames(const struct fft_run *run, size_t index, size_t average, double *values)
{
    for (size_t f = 0; f < average; f++) {
        size_t start = (index * average + f) * (run->in_values + run->fft->skip) + run->fft->skip;
        for (size_t j = 0; j < run->in_values; j++, values += 2) {
            double factor = run->window ? run->window[j] : 1;
            signal_value(run->in, run->fft->format, start + j, run->samples, values);
            values[0] *= factor;
            values[1] *= factor;
        }
    }
}

static bool guard_is_whole(const struct fft_run *run)
{
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (((const uint8_t *)run->out)[run->out_bytes + i] != GUARD)
            return false;
    return true;
}

static void compare(const struct fft_run *run, const struct case_target *target, struct case_verdict *verdict)
{
    size_t average = run->fft->average ? run->fft->average : 1, outputs = run->frames / average;
    struct accuracy accuracy;
    double *values = malloc(2 * average * run->in_values * sizeof *values);
    if (!values || !accuracy_init(&accuracy, &run->stored, target->thorough, run->fft->n)) {
        verdict_failed(verdict, "out of memory");
        free(values);
        return;
    }
    for (size_t i = 0; i < outputs; i++) {
        load_frames(run, i, average, values);
        accuracy_add(&accuracy, values, average, (const char *)run->out + i * (run->out_bytes / outputs));
    }
    double error = accuracy_error(&accuracy), bound = accuracy_bound(&accuracy, target->device);
    if (!guard_is_whole(run))
        verdict_failed(verdict, "wrote past the end of its output");
    else if (error <= bound)
        verdict_held(verdict, "error %.2e, bound %.2e, %zu of %zu bins of %zu frames", error, bound, accuracy.bins,
                     stored_count(&run->stored), run->frames);
    else
        verdict_failed(verdict, "error %.2e is above the bound %.2e", error, bound);
    accuracy_free(&accuracy);
    free(values);
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    enum { FRAMES = 3, LONG = 1 << 16 };
    size_t frames = test->fft.batch ? test->fft.batch : test->fft.n < LONG ? FRAMES : 1;
    struct fft_run run;
    int status;
    if (prepare(&run, &test->fft, frames, target, false))
        verdict_failed(verdict, "could not be prepared");
    else if ((status = make_plan(&run, target)) || (status = penstock_plan_run(run.plan, run.in, run.out, run.frames)))
        verdict_status(verdict, status);
    else
        compare(&run, target, verdict);
    release(&run);
}

static int run_plan(void *state)
{
    const struct fft_run *run = state;
    int status = penstock_plan_run(run->plan, run->in, run->out, run->frames);
    return status ? fail_status(status) : EXIT_DONE;
}

/* A peer does the plain transform only. */
static bool peer_can(const struct peer *peer, const struct fft_case *fft)
{
    return peer && peer->fft_new && fft->domain == PENSTOCK_COMPLEX && fft->direction == PENSTOCK_FORWARD &&
           fft->format == PENSTOCK_CF32 && fft->output == PENSTOCK_OUTPUT_COMPLEX && !fft->half && !fft->centered &&
           !fft->skip && !*fft->window && !fft->rows && !fft->columns;
}

/* The first plan of a length, and one just like it. */
static int time_plans(struct fft_run *run, const struct case_target *target, struct bench_row *row)
{
    for (int i = 0; i < 2; i++) {
        penstock_plan_free(run->plan);
        run->plan = NULL;
        double start = seconds_now();
        int status = make_plan(run, target);
        if (status)
            return bench_status(row, status);
        *(i ? &row->plan_warm_ms : &row->plan_cold_ms) = 1e3 * (seconds_now() - start);
    }
    return EXIT_DONE;
}

/* A peer on a GPU does the plain transform, and from cs16 windowed and averaged power. */
static enum device_work_kind device_work_of(const struct fft_case *fft)
{
    bool forward = fft->domain == PENSTOCK_COMPLEX && fft->direction == PENSTOCK_FORWARD && !fft->centered &&
                   !fft->half && !fft->rows && !fft->columns;
    if (forward && fft->format == PENSTOCK_CF32 && fft->output == PENSTOCK_OUTPUT_COMPLEX && !*fft->window)
        return DEVICE_WORK_FFT;
    if (forward && fft->format == PENSTOCK_CS16 && fft->output == PENSTOCK_OUTPUT_POWER && !fft->skip)
        return DEVICE_WORK_SPECTRUM;
    return DEVICE_WORK_NONE;
}

static struct device_work device_work_for(const struct fft_run *run)
{
    const struct fft_case *fft = run->fft;
    return (struct device_work){.kind = device_work_of(fft),
                                .n = fft->n,
                                .average = fft->average ? fft->average : 1,
                                .spacing = run->in_values + fft->skip,
                                .skip = fft->skip,
                                .window = run->window};
}

/* Of a peer that computes where ours does. */
static int measure_beside(struct fft_run *run, const struct case_target *target, struct bench_row *row)
{
    struct device_work work = device_work_for(run);
    bool gpu = !strncmp(target->device, "opencl", 6) || !strncmp(target->device, "cuda", 4);
    if (!row->peer || !row->peer->device_new || !gpu || work.kind == DEVICE_WORK_NONE)
        return EXIT_DONE;
    work.device = target->device;
    work.frames = run->frames;
    work.in = run->in;
    work.in_bytes = work.block_bytes = run->samples * penstock_format_bytes(run->fft->format);
    return bench_beside(row, &(struct workload){run_plan, run}, &work, run->out, run->out_bytes);
}

static int measure_on_device(struct fft_run *run, const struct case_target *target, struct bench_row *row, bool *done)
{
    const struct fft_case *fft = run->fft;
    struct device_bench bench = {.format = fft->format,
                                 .frames = fft->batch ? run->frames : 0,
                                 .frame_samples = run->in_values + fft->skip,
                                 .average = fft->average ? fft->average : 1};
    int status = device_bench_of_plan(&bench, run->plan);
    if (status)
        return fail_status(status);
    bench.work = device_work_for(run);
    bench.for_peer = bench.work.kind != DEVICE_WORK_NONE;
    return bench_on_device(row, target, &bench, done);
}

/* What one run of the work takes on a device that counts instructions: an emulated one, where time means nothing. */
static int count_work(struct fft_run *run, struct bench_row *row)
{
    penstock_plan_info before = PENSTOCK_PLAN_INFO, after = PENSTOCK_PLAN_INFO;
    int status = penstock_plan_get_info(run->plan, &before);
    if (status || !before.instructions)
        return status ? fail_status(status) : EXIT_DONE;
    if ((status = penstock_plan_run(run->plan, run->in, run->out, run->frames)) ||
        (status = penstock_plan_get_info(run->plan, &after)))
        return fail_status(status);
    row->frame_instructions = (double)(after.instructions - before.instructions) / (double)run->frames;
    row->frame_path = (double)(after.critical_path - before.critical_path) / (double)run->frames;
    row->instructions = row->frame_instructions * (double)run->frames / (double)run->samples;
    row->cycles = 4 * row->frame_path * (double)run->frames / (double)run->samples; /* 4 clocks each */
    return EXIT_DONE;
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct fft_case *fft = &test->fft;
    size_t all = case_bench_samples(target), frames = fft->batch ? fft->batch : fft->n < all ? all / fft->n : 1;
    struct fft_run run;
    void *peer = NULL;
    float *peer_out = NULL;
    int code = prepare(&run, fft, frames, target, true);
    if (code || (code = time_plans(&run, target, row)))
        goto done;
    row->batch = run.frames;
    row->samples_per_run = (double)run.samples;
    size_t in_bytes = run.samples * penstock_format_bytes(fft->format);
    row->bytes_per_sample = (double)(in_bytes + run.out_bytes) / (double)run.samples;
    if (peer_can(row->peer, fft)) {
        peer_out = aligned_alloc(64, (run.out_bytes + 63) / 64 * 64);
        peer = peer_out ? row->peer->fft_new(fft->n, run.frames, target->threads, run.in, peer_out) : NULL;
        if (!peer) {
            code = fail(EXIT_DATA, "%s cannot plan %s", row->peer->name, test->text);
            goto done;
        }
    }
    code = bench_measure(row, &(struct workload){run_plan, &run},
                         peer ? &(struct workload){row->peer->fft_run, peer} : NULL, 0.5);
    bool on_device = false;
    if (!code)
        code = count_work(&run, row);
    if (!code && fft->format != PENSTOCK_PLANAR && !(row->peer && row->peer->fft_new))
        code = measure_on_device(&run, target, row, &on_device);
    if (!code && !on_device)
        code = measure_beside(&run, target, row);
    if (!code && !strcmp(target->device, "cpu"))
        row->copy_gbps = bench_copy_gbps((in_bytes + run.out_bytes) / 2, target->threads);
done:
    if (peer)
        row->peer->fft_free(peer);
    free(peer_out);
    release(&run);
    return code;
}

const struct case_kind case_fft = {
    .name = "fft",
    .syntax =
        "fft:N|ROWSxN[:columnsK][:WINDOW][:cs16|cs8|cu8|cf16|planar][:power|decibel][:half][:avgK][:centered][:skipG]"
        "[:reverse][:real][:xBATCH], and on a GPU "
        "[:radixR][:local|global][:strided|transposed][:itemsI][:groupG][:images]"
        "[:fp16][:tuned]",
    .parse = fft_parse,
    .check = check,
    .bench = bench,
};
