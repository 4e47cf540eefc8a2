/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a filter's block takes: by the thread's own time on the CPU, by the device's clock where one kernel does it all,
 * or by the time of a batch. */
#include "ops/filter_cost.h"
#include "core/arrival.h"
#include "core/devices.h"
#include "core/memo.h"
#include "ops/filter_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECONDS          0.008
#define FEW_POINTS       16384
#define LEAST_ROUNDS     4
#define PATIENCE         6    /* times SECONDS, for a processor that is slower than it was */
#define SLOW             1.05 /* than at its best */
#define YARDSTICK_VALUES 512
#define YARDSTICK_ROUNDS 64
#define YARDSTICK_TIMES  4
#define FUSED_SAMPLES    ((size_t)1 << 22) /* that are timed together */
#define FUSED_REPEATS    8
#define KEY_BYTES        512
#define ANSWER_BYTES     96

/* ---------------------------------------------------------------- time ------------------------ */

/* Of this thread alone, where it does all the work. */
static int64_t now_ns(bool near)
{
    struct timespec time;
    clock_gettime(near ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
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

static void keep_less(int64_t *least, int64_t time)
{
    *least = time < *least ? time : *least;
}

/* The yardstick's least time so far in this process, and whether another one was taken while the processor was slower.
 * Its arithmetic suffers more from a neighbour on the same core than a filter's loads and stores, so that the ratio of
 * the two is good for small differences alone. */
static _Atomic int64_t best_yardstick = INT64_MAX;

static void note_yardstick(int64_t yardstick)
{
    int64_t best = atomic_load(&best_yardstick);
    while (yardstick < best && !atomic_compare_exchange_weak(&best_yardstick, &best, yardstick))
        ;
}

static bool is_slow(int64_t yardstick)
{
    return (double)yardstick > SLOW * (double)atomic_load(&best_yardstick);
}

/* Others on the machine only make it slower, so the least time counts. */
static int time_engine(int64_t *least, int64_t *yardstick, struct filter_engine *engine,
                       const struct filter_blocks *blocks)
{
    bool near = penstock__filter_engine_near(engine);
    int64_t start = now_ns(near), before = start;
    int status = PENSTOCK_OK;
    *least = INT64_MAX;
    *yardstick = near ? INT64_MAX : 1;
    for (int round = 0; !status; round++) {
        double seconds = 1e-9 * (double)(before - start);
        if (round >= LEAST_ROUNDS && seconds >= (near && is_slow(*yardstick) ? PATIENCE : 1) * SECONDS)
            break;
        status = penstock__filter_engine_run(engine, blocks);
        if (round)
            keep_less(least, now_ns(near) - before);
        if (near) {
            for (int i = 0; i < YARDSTICK_TIMES; i++) /* after a long transform the first one waits for the caches */
                keep_less(yardstick, yardstick_ns());
            note_yardstick(*yardstick);
        }
        before = now_ns(near);
    }
    return status;
}

/* Of a batch, or on the CPU of so few blocks that one thread does them. Values nobody reads. */
static int time_blocks(struct filter_cost *cost, struct filter_engine *engine, const struct filter_taps *taps,
                       size_t channels)
{
    const struct filter_shape *shape = penstock__filter_engine_shape(engine);
    size_t rows = penstock__filter_engine_near(engine) ? FEW_POINTS / (shape->n + channels * shape->m) + 1
                                                       : penstock__filter_engine_rows(engine);
    int64_t least = 0, yardstick = 1;
    void *in = penstock__calloc(penstock__filter_engine_samples(engine, rows), shape->sample_bytes);
    void *out = penstock__alloc(rows * shape->values * shape->value_bytes);
    struct filter_channel *all = penstock__calloc(channels, sizeof *all);
    int status = PENSTOCK_ERR_MEMORY;
    if (!in || !out || !all)
        goto done;
    for (size_t c = 0; c < channels; c++)
        all[c] = (struct filter_channel){.taps = taps, .out = out};
    status = time_engine(&least, &yardstick, engine,
                         &(struct filter_blocks){.count = rows, .near = rows, .in = in, .channels = all});
    *cost = (struct filter_cost){(uint64_t)least * 1000 / rows, (uint64_t)yardstick + !yardstick};
done:
    penstock__free(all);
    penstock__free(out);
    penstock__free(in);
    return status;
}

/* By the device's clock. */
static int time_fused(struct filter_cost *cost, struct filter_engine *engine, const struct filter_taps *taps)
{
    const struct filter_shape *shape = penstock__filter_engine_shape(engine);
    size_t rows = FUSED_SAMPLES / shape->block + 1, bytes = shape->n * shape->sample_bytes / 16 * 16;
    double least = (double)INFINITY, seconds;
    penstock_resident *resident = NULL;
    void *in = penstock__calloc(1, bytes);
    int status = in ? penstock__filter_engine_resident(&resident, engine, taps, in, bytes, rows) : PENSTOCK_ERR_MEMORY;
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

static int measure(struct filter_cost *cost, const struct filter_wanted *wanted, const struct filter_shape *shape)
{
    static const penstock_cf32 one = {1, 0};
    static const float real_one = 1;
    struct filter_engine *engine = NULL;
    struct filter_taps *taps = NULL;
    int status =
        penstock__filter_engine_new(&engine, wanted->context, shape, wanted->shifts, wanted->channels, wanted->text);
    if (!status &&
        !(status = penstock__filter_taps_new(&taps, shape, 0, shape->real ? NULL : &one, shape->real ? &real_one : NULL,
                                             1)) &&
        !(wanted->by_clock && engine->fused.binding && !time_fused(cost, engine, taps)))
        status = time_blocks(cost, engine, taps, wanted->channels);
    penstock__filter_taps_free(taps);
    penstock__filter_engine_free(engine);
    return status;
}

/* ---------------------------------------------------------------- memory ---------------------- */

static void write_key(char key[KEY_BYTES], const struct filter_shape *shape, const struct filter_wanted *wanted)
{
    const struct penstock_device *device = wanted->device;
    size_t shifted = 0;
    for (size_t c = 0; c < wanted->channels; c++)
        shifted += wanted->shifts[c].shift != 0;
    snprintf(key, KEY_BYTES,
             "penstock %s, %u threads, %s: %s, %s: filter in blocks %zu up %zu fold %zu format %d real %d pick %d "
             "channels %zu shifted %zu latency %zu parts %zu clock %d\n",
             penstock_version(), penstock__threads(device->context), device->name, device->product, device->driver,
             shape->n, shape->interpolation, shape->fold, (int)shape->format, shape->real,
             shape->step > 1 || shape->real_values, wanted->channels, shifted, shape->max_latency, shape->parts,
             wanted->by_clock);
}

#define ANSWER_FORMAT "picoseconds: %" PRIu64 " yardstick: %" PRIu64 "\n"

static bool read_answer(struct filter_cost *cost, const char *answer)
{
    return sscanf(answer, "picoseconds: %" SCNu64 " yardstick: %" SCNu64, &cost->picoseconds, &cost->yardstick) == 2 &&
           cost->yardstick;
}

/* What else the processor does is in such a time. */
static bool by_the_wall(const struct filter_cost *cost, const struct filter_wanted *wanted)
{
    return !wanted->by_clock && cost->yardstick == 1;
}

/* As the cache folder has it, or measured; measured again where that was done while the processor was slow. */
static int recall_or_measure(struct filter_cost *cost, const char *key, const struct filter_shape *shape,
                             const struct filter_wanted *wanted)
{
    struct filter_cost known;
    char answer[ANSWER_BYTES];
    int status;
    bool found =
        penstock__memo_read(answer, sizeof answer, wanted->context, "filter", key) && read_answer(&known, answer);
    bool near = found && known.yardstick > 1;
    if (near)
        note_yardstick((int64_t)known.yardstick);
    if (!found || (near && is_slow((int64_t)known.yardstick))) {
        if ((status = measure(cost, wanted, shape)))
            return status;
        if (!found || cost->yardstick < known.yardstick) {
            snprintf(answer, sizeof answer, ANSWER_FORMAT, cost->picoseconds, cost->yardstick);
            if (!by_the_wall(cost, wanted) || !penstock__overtaken())
                penstock__memo_write(wanted->context, "filter", key, answer);
            return PENSTOCK_OK;
        }
    }
    *cost = known;
    return PENSTOCK_OK;
}

/* One answer for all filters of a context: with the same length of transforms they give the same bits. */
int penstock__filter_cost(struct filter_cost *cost, const struct filter_shape *shape,
                          const struct filter_wanted *wanted)
{
    char key[KEY_BYTES], answer[ANSWER_BYTES];
    int status;
    write_key(key, shape, wanted);
    if (penstock__memo_recall(answer, sizeof answer, wanted->context, key) && read_answer(cost, answer))
        return PENSTOCK_OK;
    if ((status = recall_or_measure(cost, key, shape, wanted)))
        return status;
    snprintf(answer, sizeof answer, ANSWER_FORMAT, cost->picoseconds, cost->yardstick);
    penstock__memo_keep(answer, sizeof answer, wanted->context, key);
    read_answer(cost, answer); /* of another thread, if that was first */
    return PENSTOCK_OK;
}
