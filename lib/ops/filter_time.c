/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* By the thread's own time on the CPU, by the device's clock where one kernel does it all, or by the time of a batch.
 */
#include "ops/filter_time.h"
#include "ops/filter_run.h"

#include <math.h>
#include <stdatomic.h>
#include <time.h>

#define SECONDS          0.04
#define SECONDS_BATCHES  0.008
#define LEAST_ROUNDS     3 /* after the first one */
#define LEAST_TURNS      4
#define PATIENCE         10    /* times SECONDS, for a processor that is slower than it was */
#define SLOW             1.05  /* than at its best */
#define USUAL            0.08  /* from where a ratio is expected */
#define NEAR_POINTS      16384 /* so few that one thread does them */
#define FAR_SAMPLES      ((size_t)1 << 19)
#define NEAR_SHARE       4 /* of the calls far away */
#define YARDSTICK_VALUES 512
#define YARDSTICK_ROUNDS 64
#define YARDSTICK_TIMES  4
#define FUSED_SAMPLES    ((size_t)1 << 22) /* that are timed together */
#define FUSED_REPEATS    8

/* ---------------------------------------------------------------- time ------------------------ */

/* Of this thread alone, where it does all the work. */
static int64_t now_ns(bool near)
{
    struct timespec time;
    clock_gettime(near ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void keep_less(int64_t *least, int64_t time)
{
    *least = time < *least ? time : *least;
}

/* Products and sums within the nearest cache. */
static int64_t yardstick_ns(void)
{
    static const penstock_cf32 a[YARDSTICK_VALUES], b[YARDSTICK_VALUES];
    penstock_cf32 to[YARDSTICK_VALUES] = {{0, 0}};
    const struct filter_kernels *kernels = penstock__filter_kernels();
    int64_t before = now_ns(true);
    for (int i = 0; i < YARDSTICK_ROUNDS; i++)
        kernels->accumulate(to, a, b, YARDSTICK_VALUES);
    return now_ns(true) - before;
}

/* Its arithmetic suffers more from a neighbour on the same core than a filter's loads and stores, so that the ratio of
 * the two is good for small differences alone. */
static _Atomic uint64_t best_yardstick = UINT64_MAX;

void penstock__filter_note_yardstick(uint64_t yardstick)
{
    uint64_t best = atomic_load(&best_yardstick);
    while (yardstick < best && !atomic_compare_exchange_weak(&best_yardstick, &best, yardstick))
        ;
}

bool penstock__filter_is_slow(uint64_t yardstick)
{
    return (double)yardstick > SLOW * (double)atomic_load(&best_yardstick);
}

/* After a long transform the first one waits for the caches. */
static void keep_yardstick(int64_t *least)
{
    for (int i = 0; i < YARDSTICK_TIMES; i++)
        keep_less(least, yardstick_ns());
    *least += !*least;
    penstock__filter_note_yardstick((uint64_t)*least);
}

/* ---------------------------------------------------------------- blocks ---------------------- */

/*
 * An engine at work, on values nobody reads. Near the processor a stream may come from memory and go there, as from a
 * file, or stay in a few buffers, as in a flowgraph: both are timed, and count the same.
 */
struct timed {
    struct filter_engine *engine;
    struct filter_taps *taps;
    struct filter_channel *channels;
    size_t channel_count, rows; /* blocks of a call */
    size_t far_calls, near_calls;
    bool near;
};

/* The same for all that run in turns, lest one finds it in the caches and another does not. */
struct room {
    char *in, *out;
};

static void timed_free(struct timed *timed)
{
    penstock__filter_taps_free(timed->taps);
    penstock__free(timed->channels);
    penstock__filter_engine_free(timed->engine);
}

/* After an error too, free is to be called. */
static int timed_init(struct timed *timed, const struct filter_shape *shape, const struct filter_wanted *wanted)
{
    static const penstock_cf32 one = {1, 0};
    static const float real_one = 1;
    int status = penstock__filter_engine_new(&timed->engine, wanted->context, shape, wanted->shifts, wanted->channels,
                                             wanted->text);
    if (status || (status = penstock__filter_taps_new(&timed->taps, penstock__filter_engine_shape(timed->engine), 0,
                                                      shape->real ? NULL : &one, shape->real ? &real_one : NULL, 1)))
        return status;
    if (!(timed->channels = penstock__calloc(wanted->channels, sizeof *timed->channels)))
        return PENSTOCK_ERR_MEMORY;
    timed->channel_count = wanted->channels;
    timed->near = penstock__filter_engine_near(timed->engine);
    return PENSTOCK_OK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Bytes of samples and of values that a round needs. */
static void plan_calls(struct timed *timed, size_t *in_bytes, size_t *out_bytes)
{
    const struct filter_shape *shape = penstock__filter_engine_shape(timed->engine);
    timed->rows = timed->near ? NEAR_POINTS / (shape->n + timed->channel_count * shape->m) + 1
                              : penstock__filter_engine_rows(timed->engine);
    timed->far_calls = timed->near ? FAR_SAMPLES / (timed->rows * shape->block) + 1 : 1;
    timed->near_calls = timed->near ? timed->far_calls / NEAR_SHARE + 1 : 0;
    size_t rows = timed->rows * timed->far_calls;
    *in_bytes = larger(*in_bytes, penstock__filter_engine_samples(timed->engine, rows) * shape->sample_bytes);
    *out_bytes = larger(*out_bytes, rows * shape->values * shape->value_bytes);
}

/* Calls that each go on `step` rows further, and what a block took. */
static int run_calls(double *block_ps, const struct timed *timed, const struct room *room, size_t calls, size_t step)
{
    const struct filter_shape *shape = penstock__filter_engine_shape(timed->engine);
    int64_t before = now_ns(timed->near);
    int status = PENSTOCK_OK;
    for (size_t call = 0; call < calls && !status; call++) {
        for (size_t c = 0; c < timed->channel_count; c++)
            timed->channels[c] = (struct filter_channel){
                .taps = timed->taps, .out = room->out + call * step * shape->values * shape->value_bytes};
        status = penstock__filter_engine_run(
            timed->engine, &(struct filter_blocks){.count = timed->rows,
                                                   .near = timed->rows,
                                                   .in = room->in + call * step * shape->block * shape->sample_bytes,
                                                   .channels = timed->channels});
    }
    *block_ps = 1e3 * (double)(now_ns(timed->near) - before) / (double)(timed->rows * calls);
    return status;
}

/* Others on the machine only make it slower, so the least time of all rounds counts. */
static int keep_round(double *least_ps, const struct timed *timed, const struct room *room)
{
    double fetching = 0, far = 0, near = 0; /* the first call may wait for tables that are not in the caches any more */
    int status = timed->near ? run_calls(&fetching, timed, room, 1, 0) : PENSTOCK_OK;
    if (status || (status = run_calls(&far, timed, room, timed->far_calls, timed->rows)) ||
        (timed->near && (status = run_calls(&near, timed, room, timed->near_calls, 0))))
        return status;
    double block_ps = timed->near ? (far + near) / 2 : far;
    *least_ps = block_ps < *least_ps ? block_ps : *least_ps;
    return PENSTOCK_OK;
}

static int time_alone(struct filter_cost *cost, const struct timed *timed, const struct room *room)
{
    double least_ps = (double)INFINITY, seconds = timed->near ? SECONDS : SECONDS_BATCHES;
    int64_t yardstick = timed->near ? INT64_MAX : 1, start = now_ns(timed->near);
    int status = PENSTOCK_OK;
    for (int round = 0; !status; round++) {
        bool slow = timed->near && penstock__filter_is_slow((uint64_t)yardstick);
        if (round > LEAST_ROUNDS &&
            1e-9 * (double)(now_ns(timed->near) - start) >= (slow ? PATIENCE * seconds : seconds))
            break;
        status = keep_round(&least_ps, timed, room);
        if (timed->near)
            keep_yardstick(&yardstick);
    }
    *cost = (struct filter_cost){(uint64_t)least_ps, (uint64_t)yardstick};
    return status;
}

/* A ratio about as the operations of both, n log2(n). One that is not may be true, where a cache ends, or a neighbour's
 * fault. */
static bool is_usual(double ratio, size_t n, size_t other)
{
    double usual = (double)n * log2((double)n) / ((double)other * log2((double)other));
    return fabs(ratio / usual - 1) < USUAL;
}

/* What a block takes in units of the other one's. */
static int time_in_turns(double *ratio, const struct timed *timed, const struct timed *other, const struct room *room)
{
    double first = (double)INFINITY, second = (double)INFINITY, seconds = 0;
    size_t n = penstock__filter_engine_shape(timed->engine)->n, m = penstock__filter_engine_shape(other->engine)->n;
    int64_t start = now_ns(true);
    int status = PENSTOCK_OK;
    *ratio = 1;
    for (int turn = 0; turn < LEAST_TURNS || seconds < (is_usual(*ratio, n, m) ? 1 : PATIENCE) * SECONDS; turn++) {
        if ((status = keep_round(&first, timed, room)) || (status = keep_round(&second, other, room)))
            return status;
        *ratio = first / second;
        seconds = 1e-9 * (double)(now_ns(true) - start);
    }
    return status;
}

/* ---------------------------------------------------------------- a device's clock ------------ */

static int time_fused(struct filter_cost *cost, const struct timed *timed)
{
    const struct filter_shape *shape = penstock__filter_engine_shape(timed->engine);
    size_t rows = FUSED_SAMPLES / shape->block + 1, bytes = shape->n * shape->sample_bytes / 16 * 16;
    double least = (double)INFINITY, seconds;
    penstock_resident *resident = NULL;
    void *in = penstock__calloc(1, bytes);
    int status = in ? penstock__filter_engine_resident(&resident, timed->engine, timed->taps, in, bytes, rows)
                    : PENSTOCK_ERR_MEMORY;
    for (int round = 0; round <= LEAST_ROUNDS && !status; round++) {
        status = penstock_resident_run(resident, FUSED_REPEATS, &seconds);
        least = round && seconds < least ? seconds : least;
    }
    penstock_resident_free(resident);
    penstock__free(in);
    if (!status)
        *cost = (struct filter_cost){(uint64_t)(1e12 * least / (double)rows) + 1, 1};
    return status;
}

/* ---------------------------------------------------------------- a cost ---------------------- */

static int room_init(struct room *room, struct timed *timed, struct timed *other)
{
    size_t in_bytes = 0, out_bytes = 0;
    plan_calls(timed, &in_bytes, &out_bytes);
    if (other->near)
        plan_calls(other, &in_bytes, &out_bytes);
    *room = (struct room){penstock__calloc(1, in_bytes), penstock__calloc(1, out_bytes)};
    return room->in && room->out ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

int penstock__filter_time(struct filter_cost *cost, const struct filter_shape *shape,
                          const struct filter_wanted *wanted, const struct filter_shape *beside,
                          const struct filter_cost *known)
{
    struct timed timed = {.engine = NULL}, other = {.engine = NULL};
    struct room room = {.in = NULL};
    double ratio;
    int status = timed_init(&timed, shape, wanted);
    if (status || (wanted->by_clock && timed.engine->fused.binding && !time_fused(cost, &timed)) ||
        (beside && timed.near && (status = timed_init(&other, beside, wanted))) ||
        (status = room_init(&room, &timed, &other)))
        goto done;
    if (!other.near)
        status = time_alone(cost, &timed, &room);
    else if (!(status = time_in_turns(&ratio, &timed, &other, &room)))
        *cost = (struct filter_cost){(uint64_t)(ratio * (double)known->picoseconds), known->yardstick};
done:
    penstock__free(room.out);
    penstock__free(room.in);
    timed_free(&other);
    timed_free(&timed);
    return status;
}
