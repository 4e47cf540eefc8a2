/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Timing with the samples in a device's memory. */
#include "bench_on_device.h"

#include "bench_compare.h"
#include "shared/random.h"
#include "shared/targets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 9, BLOCK_BYTES = 1 << 25, MOST_REPEATS = 100 };
#define IN_BYTES        ((size_t)1 << 30)
#define LEAST_S         2e-4 /* of a run */
#define LEAST_SEVERAL_S 2e-2 /* by the host's clock, which has what it costs to begin and to wait, too */

/* Runs that the clock brackets together: a single short one would be lost in what it costs to note the time. */
struct run {
    const struct device_bench *bench;
    size_t frames, in_bytes, out_bytes;
    penstock_bench *on_device;
    const struct peer *peer;
    void *state;
    unsigned repeats;
    double least_s;
};

static int enqueue(void *user, const penstock_buffer *in, penstock_buffer *out, penstock_queue *queue)
{
    const struct run *run = user;
    return run->bench->enqueue(run->bench->argument, run->frames, in, out, queue);
}

static int run_ours(void *state, double *seconds)
{
    const struct run *run = state;
    int status = penstock_bench_run(run->on_device, run->repeats, seconds);
    return status ? fail_status(status) : EXIT_DONE;
}

static int run_peer(void *state, double *seconds)
{
    const struct run *run = state;
    return run->peer->device_run(run->state, run->repeats, seconds);
}

static uint64_t memory_of(const struct case_target *target)
{
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    size_t index;
    return penstock_device_find(target->context, target->device, &index) ||
                   penstock_device_get(target->context, index, &info)
               ? 0
               : info.memory_bytes;
}

static size_t frame_bytes(const struct device_bench *bench)
{
    return bench->frame_bytes ? bench->frame_bytes : bench->frame_samples * penstock_format_bytes(bench->format);
}

static size_t choose_frames(const struct device_bench *bench, const struct case_target *target)
{
    uint64_t memory = memory_of(target);
    size_t bytes = IN_BYTES, frame = frame_bytes(bench);
    if (bench->frames)
        return bench->frames;
    while (memory && bytes > memory / 12)
        bytes /= 2;
    return (bytes / frame + bench->average - 1) / bench->average * bench->average;
}

/* Random samples, for the device to repeat. Full scale integers, floats between -1 and 1, halfs below 2. */
static void *make_block(const struct device_bench *bench)
{
    bool floats = bench->format == PENSTOCK_CF32 || bench->format == PENSTOCK_F32;
    char *block = aligned_alloc(64, BLOCK_BYTES);
    uint64_t seed = 5;
    for (size_t i = 0; block && i < BLOCK_BYTES / 4; i++) {
        uint32_t word = (uint32_t)(random_uniform(&seed) * 0x1p32);
        float value = (float)word * 0x1p-31f - 1;
        word &= bench->format == PENSTOCK_CF16 ? 0xbfffbfffu : ~0u;
        memcpy(block + 4 * i, floats ? (const void *)&value : (const void *)&word, 4);
    }
    return block;
}

static int measure_copy(struct bench_row *row, penstock_bench *on_device)
{
    double best = 0;
    for (int way = 0; way < 2; way++) {
        double times[COPIES], seconds;
        size_t bytes = 0;
        for (size_t i = 0; i < COPIES + 2; i++) {
            int status = penstock_bench_copy(on_device, way, &bytes, &seconds);
            if (status)
                return fail_status(status);
            size_t place = i < 2 ? 0 : i - 2; /* the first two warm up */
            for (; place && times[place - 1] > seconds; place--)
                times[place] = times[place - 1];
            times[place] = seconds;
        }
        best = fmax(best, 2e-9 * (double)bytes / times[COPIES / 2]);
    }
    row->copy_gbps = best;
    return EXIT_DONE;
}

static int compare(const struct run *run, const char *name)
{
    size_t bytes = bench_compared_bytes(run->out_bytes);
    char *ours = malloc(bytes), *theirs = malloc(bytes);
    int code = ours && theirs ? EXIT_DONE : fail(EXIT_DATA, "out of memory"), status;
    if (!code && (status = penstock_bench_read(run->on_device, ours, bytes)))
        code = fail_status(status);
    if (!code)
        code = run->peer->device_read(run->state, theirs, bytes);
    if (!code)
        code = bench_compare(&run->bench->work, ours, theirs, bytes, &(struct bench_names){name, run->peer->name});
    free(ours);
    free(theirs);
    return code;
}

/* "convert 0.95; transform 0.97": what each of the peer's kernels reaches of the copy's rate. */
static int measure_parts(struct bench_row *row, const struct run *run)
{
    struct device_part parts[DEVICE_PARTS];
    size_t count = 0, used = 0;
    int code = run->peer->device_parts ? run->peer->device_parts(run->state, parts, &count) : EXIT_DONE;
    for (size_t i = 0; i < count && !code && used < sizeof row->peer_parts; i++)
        used += (size_t)snprintf(row->peer_parts + used, sizeof row->peer_parts - used, "%s%s %.2f", i ? "; " : "",
                                 parts[i].name, 1e-9 * parts[i].bytes / parts[i].seconds / row->copy_gbps);
    return code;
}

/* The best of several: what disturbs a copy makes it slower. */
static int measure_bus(struct bench_row *row, penstock_bench *on_device)
{
    double best = INFINITY, seconds;
    for (int i = 0; i < 5; i++) {
        int status = penstock_bench_transfer(on_device, &seconds);
        if (status)
            return fail_status(status);
        best = fmin(best, seconds);
    }
    row->bus_msps = 1e-6 * row->samples_per_run / best;
    return EXIT_DONE;
}

static int measure(struct bench_row *row, struct run *run)
{
    double seconds = 0;
    int code;
    if (run->state)
        for (int i = 0; i < 2; i++)
            if ((code = i ? run_peer(run, &seconds) : run_ours(run, &seconds)))
                return code;
    if (run->state && (code = compare(run, row->name)))
        return code;
    if ((code = measure_bus(row, run->on_device)) || (code = measure_copy(row, run->on_device)) ||
        (code = run_ours(run, &seconds)))
        return code;
    if (run->state && (code = measure_parts(row, run)))
        return code;
    run->repeats = (unsigned)fmin(MOST_REPEATS, run->least_s / fmax(seconds, 1e-6)) + 1;
    return bench_measure(row, &(struct workload){.state = run, .run_timed = run_ours},
                         run->state ? &(struct workload){.state = run, .run_timed = run_peer} : NULL, 0.3);
}

static struct run new_run(const struct device_bench *bench, const struct case_target *target)
{
    struct run run = {.bench = bench, .repeats = 1, .frames = choose_frames(bench, target)};
    run.in_bytes = run.frames * frame_bytes(bench) + bench->overlap_samples * penstock_format_bytes(bench->format);
    run.out_bytes = run.frames / bench->average * bench->output_bytes;
    run.least_s = targets_are_several(target->device) ? LEAST_SEVERAL_S : LEAST_S;
    return run;
}

static int open_peer(struct run *run, const struct case_target *target, const void *block)
{
    struct device_work work = run->bench->work;
    work.device = target->device;
    work.frames = run->frames;
    work.in = block;
    work.block_bytes = BLOCK_BYTES;
    work.in_bytes = run->frames * frame_bytes(run->bench);
    return (run->state = run->peer->device_new(&work)) ? EXIT_DONE : EXIT_DATA;
}

static int with_block(struct bench_row *row, const struct case_target *target, const struct device_bench *bench,
                      const void *block, bool *done)
{
    struct run run = new_run(bench, target);
    double transfers = row->runs ? bench_rate_msps(row) : NAN;
    int code = EXIT_DONE;
    int status =
        penstock_bench_new(&run.on_device, target->context,
                           &PENSTOCK_BENCH_DESC(.device = bench->device, .work = enqueue, .user = &run,
                                                .in_bytes = run.in_bytes, .out_bytes = run.out_bytes, .block = block,
                                                .block_bytes = bench->block ? bench->block_bytes : BLOCK_BYTES));
    if (status)
        return status == PENSTOCK_ERR_UNSUPPORTED ? EXIT_DONE : fail_status(status);
    *done = true;
    run.peer = row->peer;
    if (bench->for_peer && run.peer && run.peer->device_new)
        code = open_peer(&run, target, block);
    row->batch = run.frames;
    row->samples_per_run = (double)run.frames * (double)bench->frame_samples;
    row->bytes_per_sample = (double)(run.in_bytes + run.out_bytes) / row->samples_per_run;
    row->rate_with_transfers_msps = transfers;
    if (!code)
        code = measure(row, &run);
    if (run.state)
        run.peer->device_free(run.state);
    penstock_bench_free(run.on_device);
    return code;
}

static int enqueue_plan(void *plan, size_t frames, const penstock_buffer *in, penstock_buffer *out,
                        penstock_queue *queue)
{
    return penstock_plan_enqueue(plan, in, out, frames, queue);
}

int device_bench_of_plan(struct device_bench *bench, penstock_plan *plan)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status = penstock_plan_get_info(plan, &info);
    bench->enqueue = enqueue_plan;
    bench->argument = plan;
    bench->device = info.device;
    bench->output_bytes = info.out_bytes;
    return status;
}

int bench_on_device(struct bench_row *row, const struct case_target *target, const struct device_bench *bench,
                    bool *done)
{
    if (bench->block)
        return with_block(row, target, bench, bench->block, done);
    void *block = make_block(bench);
    int code = block ? with_block(row, target, bench, block, done) : fail(EXIT_DATA, "out of memory");
    free(block);
    return code;
}
