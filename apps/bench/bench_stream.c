/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a stream can reach at most: the bus alone, and the copies alone between the caller's memory and the bus's. */
#include "bench_stream.h"
#include "bench_plan.h"
#include "shared/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 1024, BUS_RUNS = 5, COPIES = 7 };
#define BUS_BYTES    ((size_t)1 << 28)
#define LOCKED_BYTES ((size_t)1 << 25) /* each way: a stream's batches in flight */
#define PIECE_BYTES  ((size_t)1 << 23) /* one of them */

/* ---------------------------------------------------------------- the bus --------------------- */

/* A transform whose bytes out are to its bytes in as a stream's, as near as one comes. */
static penstock_fft_desc closest(double ratio)
{
    const penstock_fft_desc plain = PENSTOCK_FFT_DESC(.n = LENGTH, .load = {.format = ratio > 2.8   ? PENSTOCK_CS8
                                                                                      : ratio > 1.4 ? PENSTOCK_CS16
                                                                                                    : PENSTOCK_CF32});
    if (ratio > 0.7)
        return plain;
    return PENSTOCK_FFT_DESC(.n = LENGTH,
                             .store = {.output = PENSTOCK_OUTPUT_POWER, .average = (unsigned)fmax(1, 0.5 / ratio)});
}

static double best_transfer(penstock_bench *on_device)
{
    double best = NAN, seconds;
    for (int i = 0; i < BUS_RUNS && !penstock_bench_transfer(on_device, &seconds); i++)
        best = fmin(best, seconds);
    return best;
}

static double bus_seconds(const struct case_target *target, double in_bytes, double out_bytes)
{
    const penstock_fft_desc desc = closest(out_bytes / in_bytes);
    const size_t average = desc.store.average ? desc.store.average : 1,
                 frames = BUS_BYTES / penstock_format_bytes(desc.load.format) / LENGTH + average;
    struct bench_plan work = {.frames = frames / average * average, .average = average};
    penstock_bench *on_device = NULL;
    char *block = calloc(LENGTH, 16);
    double seconds = NAN;
    if (block && !penstock_fft_plan(&work.plan, target->context, &desc, target->device)) {
        if (!bench_plan_new(&on_device, target->context, &work, block, 16 * LENGTH))
            seconds =
                best_transfer(on_device) * fmax(in_bytes / (double)work.in_bytes, out_bytes / (double)work.out_bytes);
        penstock_bench_free(on_device);
        penstock_plan_free(work.plan);
    }
    free(block);
    return seconds;
}

/* ---------------------------------------------------------------- copies ---------------------- */

struct way {
    char *ordinary, *locked;
    size_t bytes; /* of `ordinary` */
};

struct copy {
    struct way in, out;
    size_t pieces;
};

/* A member's part of the piece from byte `from` on to `to`. */
static void copy_piece(const struct way *way, size_t from, size_t to, bool out, unsigned member, unsigned count)
{
    const size_t first = (to - from) * member / count, bytes = (to - from) * (member + 1) / count - first;
    char *ordinary = way->ordinary + from + first, *locked = way->locked + from % LOCKED_BYTES + first;
    memcpy(out ? ordinary : locked, out ? locked : ordinary, bytes);
}

/* By turns in and out, as a stream is pushed and pulled. */
static void copy_share(void *argument, unsigned member, unsigned count)
{
    const struct copy *copy = argument;
    const size_t in = copy->in.bytes, out = copy->out.bytes, pieces = copy->pieces;
    for (size_t i = 0; i < pieces; i++) {
        copy_piece(&copy->in, in * i / pieces, in * (i + 1) / pieces, false, member, count);
        copy_piece(&copy->out, out * i / pieces, out * (i + 1) / pieces, true, member, count);
    }
}

static bool way_new(struct way *way, const struct case_target *target, size_t bytes)
{
    void *locked = NULL;
    way->bytes = bytes;
    way->ordinary = malloc(bytes + 1);
    if (!penstock_host_memory_new(&locked, target->context, target->device, LOCKED_BYTES + PIECE_BYTES))
        way->locked = locked;
    if (!way->ordinary || !way->locked)
        return false;
    memset(way->ordinary, 1, bytes);
    memset(way->locked, 2, LOCKED_BYTES + PIECE_BYTES);
    return true;
}

static void way_free(struct way *way, const struct case_target *target)
{
    penstock_host_memory_free(target->context, way->locked);
    free(way->ordinary);
}

/* The best of several. */
static double copies_seconds(const struct case_target *target, size_t in_bytes, size_t out_bytes)
{
    const size_t most = in_bytes > out_bytes ? in_bytes : out_bytes;
    struct team *team = team_new(target->threads);
    struct copy copy = {.pieces = most / PIECE_BYTES + 1};
    double best = NAN;
    const bool in = way_new(&copy.in, target, in_bytes), out = way_new(&copy.out, target, out_bytes);
    for (int i = 0; i < COPIES && team && in && out; i++) {
        const double start = seconds_now();
        team_run(team, copy_share, &copy);
        best = fmin(best, seconds_now() - start);
    }
    way_free(&copy.in, target);
    way_free(&copy.out, target);
    team_free(team);
    return best;
}

/* ---------------------------------------------------------------- both ------------------------ */

void bench_stream_limits(struct bench_row *row, const struct case_target *target, double in_bytes, double out_bytes)
{
    const double samples = 1e-6 * row->samples_per_run;
    if (target->by_itself)
        return;
    if (!strcmp(target->device, "cpu")) {
        row->copy_gbps = bench_copy_gbps((size_t)((in_bytes + out_bytes) / 2), target->threads);
        row->copies_msps = 1e3 * row->copy_gbps / row->bytes_per_sample;
        return;
    }
    row->bus_msps = samples / bus_seconds(target, in_bytes, out_bytes);
    if (!isfinite(row->bus_msps))
        return;
    row->rate_with_transfers_msps = bench_rate_msps(row);
    row->copies_msps = samples / copies_seconds(target, (size_t)in_bytes, (size_t)out_bytes);
}
