/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Times the launch configurations of a plan's kernels with the samples on the device, in turns, so that what disturbs
 * one disturbs all, and keeps the fastest one that passes the plan's check. As the choice among devices, the answer is
 * kept under a text that names all it depends on.
 */
#include "core/base/context.h"
#include "core/check/check.h"
#include "core/choice/timer.h"
#include "core/choice/wisdom.h"
#include "core/device/buffer.h"
#include "core/device/devices.h"
#include "core/plan/bench.h"
#include "core/plan/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BUDGET_S    0.02 /* of timing, after one run of each configuration */
#define ROUND_S     3e-4 /* of one configuration in one round */
#define ROUNDS      25
#define GAIN        0.97 /* another configuration than the library's choice must take less than so much of its time */
#define MOST_BYTES  ((size_t)256 << 20)
#define BLOCK_BYTES ((size_t)64 << 10)
#define FILLING     0x3c /* such bytes are a number of ordinary size in every format */
#define MOST        (PENSTOCK_MAX_LAUNCH_CONFIGS + 1)

struct tuning {
    struct penstock_device *device;
    const struct penstock_problem *problem;
    unsigned slots;
    struct penstock_launch_configs configs;
    struct penstock__executor
        *executors[MOST]; /* the library's choice, then the configurations; NULL where one failed */
    double seconds[MOST]; /* of the frames that are timed; infinite until then */
    size_t frames;
    void *block;
    penstock_bench *bench;
    struct penstock__executor *timed; /* by it */
};

static const char *config_of(const struct tuning *tuning, size_t i)
{
    return i ? tuning->configs.text[i - 1] : "";
}

static void leave_out(struct tuning *tuning, size_t i)
{
    const char *config = config_of(tuning, i);
    penstock__log(tuning->device->context, PENSTOCK_LOG_DEBUG, "%s: tuning leaves %s out: %s", tuning->device->name,
                  *config ? config : "the usual shape", penstock_error_text());
    penstock__executor_free(tuning->executors[i]);
    tuning->executors[i] = NULL;
    tuning->seconds[i] = INFINITY;
}

/* ---------------------------------------------------------------- memory ---------------------- */

static void ask(struct penstock__question *question, const struct tuning *tuning)
{
    penstock__question_begin(question, tuning->device->context, "tuned");
    penstock__question_add(question, "%s, ", tuning->configs.identity);
    penstock__question_add_problem(question, tuning->problem);
    penstock__question_add_device(question, tuning->device);
    for (size_t i = 0; i < tuning->configs.count; i++)
        penstock__question_add(question, "%s\n", tuning->configs.text[i]);
}

static void write_answer(char answer[PENSTOCK_LAUNCH_CONFIG_BYTES + 16], const struct tuning *tuning, size_t index)
{
    snprintf(answer, PENSTOCK_LAUNCH_CONFIG_BYTES + 16, "shape: %s\n", config_of(tuning, index));
}

/* What was kept, as an index of config_of(); false where there is nothing. */
static bool recall(const struct tuning *tuning, const struct penstock__question *question, size_t *index)
{
    char answer[PENSTOCK_LAUNCH_CONFIG_BYTES + 16], other[PENSTOCK_LAUNCH_CONFIG_BYTES + 16];
    if (!penstock__wisdom_find(answer, sizeof answer, question))
        return false;
    for (*index = 0; *index <= tuning->configs.count; ++*index) {
        write_answer(other, tuning, *index);
        if (!strcmp(answer, other))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- timing ---------------------- */

static void make_all(struct tuning *tuning)
{
    for (size_t i = 0; i <= tuning->configs.count; i++) {
        tuning->seconds[i] = INFINITY;
        if (penstock__executor_new_as(&tuning->executors[i], tuning->device, tuning->problem, tuning->slots, 0,
                                      config_of(tuning, i)))
            leave_out(tuning, i);
    }
}

static size_t samples_of(const struct tuning *tuning, size_t frames)
{
    return penstock__fft_samples(&tuning->problem->fft, frames);
}

/* Whole averages of what a call usually brings, within reason. */
static size_t choose_frames(const struct tuning *tuning)
{
    size_t average = tuning->problem->fft.average, groups = (tuning->problem->batch + average - 1) / average;
    while (groups > 1 && penstock__problem_in_bytes(tuning->problem, samples_of(tuning, groups * average)) +
                                 penstock__problem_out_bytes(tuning->problem, groups * average) >
                             MOST_BYTES)
        groups = (groups + 1) / 2;
    return groups * average;
}

/* Of the executor that is timed. */
static int enqueue(void *argument, const penstock_buffer *in, penstock_buffer *out, penstock_queue *queue)
{
    const struct tuning *tuning = argument;
    struct penstock_job job = {.frames = tuning->frames, .samples = samples_of(tuning, tuning->frames)};
    int status = penstock__job_place(&job, tuning->timed, in, out, queue);
    return status ? status : penstock__enqueue(tuning->timed, &job, queue);
}

static int make_bench(struct tuning *tuning)
{
    const size_t samples = samples_of(tuning, tuning->frames);
    return penstock__bench_new(
        &tuning->bench, tuning->device,
        &PENSTOCK_BENCH_DESC(.work = enqueue, .user = tuning, .block = tuning->block, .block_bytes = BLOCK_BYTES,
                             .in_bytes = penstock__problem_in_bytes(tuning->problem, samples),
                             .out_bytes = penstock__problem_out_bytes(tuning->problem, tuning->frames)),
        true);
}

/* After a failure nothing is known of what the queue holds: another one is made then. */
static int run(struct tuning *tuning, size_t i, unsigned repeats, double *seconds)
{
    int status;
    tuning->timed = tuning->executors[i];
    if (!tuning->bench && (status = make_bench(tuning)))
        return status;
    if ((status = penstock_bench_run(tuning->bench, repeats, seconds))) {
        penstock_bench_free(tuning->bench);
        tuning->bench = NULL;
    }
    return status;
}

struct turns {
    struct tuning *tuning;
    unsigned repeats[MOST];
};

static int run_turn(void *argument)
{
    const struct turns *turns = argument;
    struct tuning *tuning = turns->tuning;
    double seconds;
    for (size_t i = 0; i <= tuning->configs.count; i++)
        if (tuning->executors[i] && run(tuning, i, turns->repeats[i], &seconds))
            leave_out(tuning, i);
        else if (tuning->executors[i])
            tuning->seconds[i] = fmin(tuning->seconds[i], seconds);
    return PENSTOCK_OK;
}

/* Gives the seconds that it takes, after the first runs, in which some drivers still compile. */
static double time_all(struct tuning *tuning)
{
    struct turns turns = {.tuning = tuning};
    double seconds;
    for (size_t i = 0; i <= tuning->configs.count; i++)
        if (tuning->executors[i] && run(tuning, i, 1, &seconds))
            leave_out(tuning, i);
        else if (tuning->executors[i])
            turns.repeats[i] = (unsigned)fmin(100, ROUND_S / fmax(seconds, 1e-7)) + 1;
    penstock__time_turns(&seconds, ROUNDS, BUDGET_S, run_turn, &turns);
    penstock_bench_free(tuning->bench);
    tuning->bench = NULL;
    return seconds;
}

/* ---------------------------------------------------------------- choice ---------------------- */

static size_t fastest(const struct tuning *tuning)
{
    size_t best = 0;
    for (size_t i = 1; i <= tuning->configs.count; i++)
        if (tuning->seconds[i] < tuning->seconds[best] * (best ? 1 : GAIN))
            best = i;
    return best;
}

/* The fastest one that passes its check; false where there is none. */
static bool choose(struct tuning *tuning, size_t *index)
{
    for (*index = fastest(tuning); isfinite(tuning->seconds[*index]); *index = fastest(tuning)) {
        if (!penstock__check(tuning->executors[*index]))
            return true;
        leave_out(tuning, *index);
    }
    return false;
}

static bool measure(struct tuning *tuning, size_t *index)
{
    double seconds;
    unsigned timed = 0;
    make_all(tuning);
    tuning->frames = choose_frames(tuning);
    if (!(tuning->block = penstock__alloc(BLOCK_BYTES)))
        return false;
    memset(tuning->block, FILLING, BLOCK_BYTES);
    seconds = time_all(tuning);
    for (size_t i = 0; i <= tuning->configs.count; i++)
        if (isfinite(tuning->seconds[i])) {
            penstock__log(tuning->device->context, PENSTOCK_LOG_DEBUG, "%s: %s takes %.4g us", tuning->device->name,
                          *config_of(tuning, i) ? config_of(tuning, i) : "the usual shape", 1e6 * tuning->seconds[i]);
            timed++;
        }
    if (!choose(tuning, index))
        return false;
    tuning->executors[*index]->timed = timed;
    tuning->executors[*index]->tuning_s = seconds;
    return true;
}

/* The kept launch configuration's executor, or that of the one measured now; false: neither. */
static bool recall_or_measure(struct tuning *tuning, size_t *index)
{
    char answer[PENSTOCK_LAUNCH_CONFIG_BYTES + 16];
    struct penstock__question question;
    ask(&question, tuning);
    bool kept = recall(tuning, &question, index);
    if (kept) {
        struct penstock__executor **executor = &tuning->executors[*index];
        if (penstock__executor_new_as(executor, tuning->device, tuning->problem, tuning->slots, 0,
                                      config_of(tuning, *index)) ||
            penstock__check(*executor)) {
            leave_out(tuning, *index);
            kept = false;
        }
    }
    if (!kept && !measure(tuning, index))
        return false;
    write_answer(answer, tuning, *index);
    (kept ? penstock__wisdom_hold : penstock__wisdom_learn)(&question, answer);
    return true;
}

bool penstock__tune(struct penstock__executor **executor, struct penstock_device *device,
                    const struct penstock_problem *problem, unsigned slots)
{
    const struct penstock_backend *backend = device->backend;
    struct tuning *tuning;
    size_t index;
    *executor = NULL;
    if (problem->kind != PENSTOCK_PROBLEM_FFT || !problem->fft.tune || problem->fft.gathered ||
        problem->fft.format == PENSTOCK_PLANAR || !backend->launch_configs || !backend->stamp ||
        penstock__log_lets_wait() || penstock__device_open(device) || penstock__problem_rank(device, problem) <= 0 ||
        !(tuning = penstock__calloc(1, sizeof *tuning)))
        return false;
    *tuning = (struct tuning){.device = device, .problem = problem, .slots = slots};
    if (!backend->launch_configs(&tuning->configs, device, problem) && tuning->configs.count) {
        pthread_mutex_lock(&device->context->tune_lock); /* two measurements at once would disturb each other */
        if (recall_or_measure(tuning, &index)) {
            *executor = tuning->executors[index];
            tuning->executors[index] = NULL;
        }
        pthread_mutex_unlock(&device->context->tune_lock);
    }
    for (size_t i = 0; i < MOST; i++)
        penstock__executor_free(tuning->executors[i]);
    penstock__free(tuning->block);
    penstock__free(tuning);
    return *executor;
}
