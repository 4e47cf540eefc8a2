/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device of a plan: executors of it are timed, by batches on their way through all slots as a stream sends them. */
#include "core/choice/choice.h"
#include "core/choice/timer.h"
#include "core/plan/chunk_queue.h"
#include "core/plan/problem.h"

#include <string.h>

#define MAX_BYTES ((size_t)64 << 20)
#define FILLING   0x3c /* such bytes are a number of ordinary size in every format */

/* ---------------------------------------------------------------- time ------------------------ */

struct rig {
    struct penstock__chunk_queue queue;
    unsigned in_flight;
    struct penstock__batch batch;
    size_t in_bytes, out_bytes; /* of a batch */
    unsigned char *in, *out;    /* of each batch in flight its own: a stream's samples are not in the nearest cache */
    struct penstock_gather *gather;
    uint64_t tickets[PENSTOCK__MAX_SLOTS];
};

static void set_frames(struct rig *rig, size_t frames)
{
    const struct penstock_problem *problem = rig->queue.problem;
    rig->batch.frames = frames;
    rig->batch.samples =
        penstock__problem_gathered(problem) ? frames * problem->fft.n : penstock__problem_samples(problem, frames);
    rig->in_bytes = penstock__problem_in_bytes(problem, rig->batch.samples);
    rig->out_bytes = penstock__problem_out_bytes(problem, frames);
}

static int make_rig(struct rig *rig, struct penstock__executor *executor, unsigned in_flight)
{
    const struct penstock_problem *problem = executor->state.problem;
    size_t average = penstock__problem_average(problem);
    /* a stream gathers what suits the device, unlike who waits for each batch */
    size_t batch =
        in_flight > 1 && executor->state.best_batch > problem->batch ? executor->state.best_batch : problem->batch;
    size_t groups = (batch + average - 1) / average;
    rig->queue = (struct penstock__chunk_queue){.context = executor->state.device->context,
                                                .problem = problem,
                                                .slots = executor->slot_count,
                                                .executor = executor};
    rig->in_flight = in_flight;
    for (;; groups = (groups + 1) / 2) {
        set_frames(rig, groups * average);
        if (groups == 1 || in_flight * (rig->in_bytes + rig->out_bytes) <= MAX_BYTES)
            break;
    }
    if (!(rig->in = penstock__alloc(in_flight * rig->in_bytes)) ||
        !(rig->out = penstock__alloc(in_flight * rig->out_bytes)) ||
        (penstock__problem_gathered(problem) &&
         !(rig->gather = penstock__calloc(rig->batch.frames, sizeof *rig->gather))))
        return PENSTOCK_ERR_MEMORY;
    memset(rig->in, FILLING, in_flight * rig->in_bytes);
    memset(rig->out, 0, in_flight * rig->out_bytes);
    for (size_t i = 0; rig->gather && i < rig->batch.frames; i++)
        rig->gather[i] = (struct penstock_gather){.start = (uint32_t)(i * problem->fft.n), .step = 1 << 20};
    rig->batch.gather = rig->gather;
    return PENSTOCK_OK;
}

/* As many batches as are in flight at once; one alone is waited for, as penstock_plan_run() does. */
static int run_round(void *argument)
{
    struct rig *rig = argument;
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < rig->in_flight && !status; i++) {
        rig->batch.in = rig->in + i * rig->in_bytes;
        rig->batch.out = rig->out + i * rig->out_bytes;
        if (!(status = penstock__chunk_queue_wait(&rig->queue, rig->tickets[i])))
            status = penstock__chunk_queue_submit(&rig->queue, &rig->batch, &rig->tickets[i]);
    }
    return status || rig->in_flight > 1 ? status : penstock__chunk_queue_wait(&rig->queue, rig->tickets[0]);
}

/* Seconds a frame, transfers included. Takes about 50 ms. `in_flight` batches are on their way at once; 1: each is
 * waited for. */
static int measure(double *seconds, struct penstock__executor *executor, unsigned in_flight)
{
    struct rig rig = {.in = NULL};
    double round_s;
    int status = make_rig(&rig, executor, in_flight);
    if (!status && !(status = penstock__time_rounds(&round_s, run_round, &rig)) &&
        !(status = penstock__chunk_queue_wait(&rig.queue, rig.queue.last_ticket)))
        *seconds = round_s / (double)(rig.batch.frames * in_flight);
    if (status)
        penstock__executor_close(executor);
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++)
        penstock__free(rig.queue.chunks[i].saved);
    penstock__free(rig.gather);
    penstock__free(rig.out);
    penstock__free(rig.in);
    return status;
}

/* ---------------------------------------------------------------- choice ---------------------- */

struct wanted {
    const struct penstock_problem *problem;
    unsigned slots, in_flight;
    struct penstock__executor *timed, *best;
};

static void ask(void *owner, struct penstock__question *question, const struct penstock__candidates *list)
{
    const struct wanted *wanted = owner;
    (void)list;
    penstock__question_add(question, "%u slots, %u in flight: ", wanted->slots, wanted->in_flight);
    penstock__question_add_problem(question, wanted->problem);
}

static int time_on(void *owner, struct penstock_device *device, double *seconds)
{
    struct wanted *wanted = owner;
    int status = penstock__executor_new(&wanted->timed, device, wanted->problem, wanted->slots);
    if (!status && (status = measure(seconds, wanted->timed, wanted->in_flight))) {
        penstock__executor_free(wanted->timed);
        wanted->timed = NULL;
    }
    return status;
}

static void keep(void *owner, bool fastest)
{
    struct wanted *wanted = owner;
    penstock__executor_free(fastest ? wanted->best : wanted->timed);
    wanted->best = fastest ? wanted->timed : wanted->best;
    wanted->timed = NULL;
}

static int take(void *owner, struct penstock_device *device)
{
    struct wanted *wanted = owner;
    return penstock__executor_new(&wanted->best, device, wanted->problem, wanted->slots);
}

int penstock__choose(struct penstock__executor **executor, penstock_context *context,
                     const struct penstock_problem *problem, unsigned slots, unsigned in_flight)
{
    struct wanted wanted = {.problem = problem, .slots = slots, .in_flight = in_flight};
    struct penstock_device *device;
    int status = penstock__choice_make(&device, &(struct penstock__choice){.context = context,
                                                                           .problem = problem,
                                                                           .kind = "choice",
                                                                           .unit = "frame",
                                                                           .owner = &wanted,
                                                                           .ask = ask,
                                                                           .time = time_on,
                                                                           .keep = keep,
                                                                           .take = take});
    if (status)
        penstock__executor_free(wanted.best);
    *executor = status ? NULL : wanted.best;
    return status;
}
