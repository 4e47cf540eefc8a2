/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Times batches on their way through all slots, as a stream sends them. */
#include "core/measure.h"
#include "core/arrival.h"
#include "core/problem.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS   0.05 /* of measuring, after two rounds to warm up */
#define ROUNDS    25   /* at most; their median counts, since other work may disturb some */
#define MAX_BYTES ((size_t)64 << 20)
#define FILLING   0x3c /* such bytes are a number of ordinary size in every format */

struct rig {
    struct penstock__binding *binding;
    struct penstock__batch batch;
    size_t out_bytes;
    unsigned char *in, *out; /* `out` has room for each slot */
    struct penstock_gather *gather;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void set_frames(struct rig *rig, size_t frames)
{
    const struct penstock_problem *problem = rig->binding->state.problem;
    rig->batch.frames = frames;
    rig->batch.samples =
        penstock__problem_gathered(problem) ? frames * problem->fft.n : penstock__problem_samples(problem, frames);
    rig->out_bytes = penstock__problem_out_bytes(problem, frames);
}

static int make_rig(struct rig *rig, struct penstock__binding *binding)
{
    const struct penstock_problem *problem = binding->state.problem;
    size_t average = penstock__problem_average(problem), groups = (problem->batch + average - 1) / average, in_bytes;
    rig->binding = binding;
    for (;; groups = (groups + 1) / 2) {
        set_frames(rig, penstock__binding_piece(binding, groups * average));
        in_bytes = penstock__problem_in_bytes(problem, rig->batch.samples);
        if (groups == 1 || in_bytes + binding->slot_count * rig->out_bytes <= MAX_BYTES)
            break;
    }
    if (!(rig->in = penstock__alloc(in_bytes)) || !(rig->out = penstock__alloc(binding->slot_count * rig->out_bytes)) ||
        (penstock__problem_gathered(problem) &&
         !(rig->gather = penstock__calloc(rig->batch.frames, sizeof *rig->gather))))
        return PENSTOCK_ERR_MEMORY;
    memset(rig->in, FILLING, in_bytes);
    memset(rig->out, 0, binding->slot_count * rig->out_bytes);
    for (size_t i = 0; rig->gather && i < rig->batch.frames; i++)
        rig->gather[i] = (struct penstock_gather){.start = (uint32_t)(i * problem->fft.n), .step = 1 << 20};
    rig->batch.in = rig->in;
    rig->batch.gather = rig->gather;
    return PENSTOCK_OK;
}

/* One batch through every slot. */
static int run_round(void *argument)
{
    struct rig *rig = argument;
    int status = PENSTOCK_OK;
    for (unsigned slot = 0; slot < rig->binding->slot_count && !status; slot++) {
        rig->batch.out = rig->out + slot * rig->out_bytes;
        if (!(status = penstock__binding_wait(rig->binding, slot)))
            status = penstock__binding_submit(rig->binding, slot, &rig->batch);
    }
    return status;
}

static int drain(struct rig *rig)
{
    int status = PENSTOCK_OK;
    for (unsigned slot = 0; slot < rig->binding->slot_count && !status; slot++)
        status = penstock__binding_wait(rig->binding, slot);
    return status;
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* Rounds follow each other with all slots full; a round's time is from one start to the next. */
int penstock__measure_rounds(struct penstock__measured *measured, int (*round)(void *argument), void *argument)
{
    double times[ROUNDS], start, before;
    size_t rounds = 0;
    uint64_t served;
    int status;
    if ((status = round(argument)) || (status = round(argument)))
        return status;
    served = penstock__arrival_served();
    start = before = now();
    while (rounds < ROUNDS && before - start < SECONDS) {
        double after;
        if ((status = round(argument)))
            return status;
        after = now();
        times[rounds++] = after - before;
        before = after;
    }
    qsort(times, rounds, sizeof times[0], compare);
    *measured = (struct penstock__measured){
        .seconds = times[rounds / 2], .beside_hz = (double)(penstock__arrival_served() - served) / (before - start)};
    return PENSTOCK_OK;
}

int penstock__measure(double *seconds, struct penstock__binding *binding)
{
    struct rig rig = {0};
    struct penstock__measured measured;
    int status = make_rig(&rig, binding);
    if (!status && !(status = penstock__measure_rounds(&measured, run_round, &rig)) && !(status = drain(&rig))) {
        *seconds = measured.seconds / (double)(rig.batch.frames * binding->slot_count);
        if (!strcmp(binding->state.device->name, "cpu"))
            *seconds = penstock__measured_alone(*seconds, measured.beside_hz);
    }
    if (status)
        penstock__binding_close(binding);
    penstock__free(rig.gather);
    penstock__free(rig.out);
    penstock__free(rig.in);
    return status;
}
