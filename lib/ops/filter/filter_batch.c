/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A batch of blocks through two child FFT plans, on whatever device, and through product and store on the CPU's
 * threads. */
#include "ops/filter/filter_run.h"

#include <string.h>

/* Values that are worth another thread's attention; fewer where that makes threads' shares alike. */
#define ITEM_VALUES  16384
#define LEAST_VALUES 4096

/* What the stages between the plans need; where one kernel does it all, not before that has failed. */
static int make_room(struct filter_engine *engine)
{
    size_t rows = engine->rows + 1, frames = engine->rows + engine->shape.partitions;
    if (!engine->spectra)
        engine->spectra = penstock__alloc(frames * engine->bins * sizeof *engine->spectra);
    if (!engine->product)
        engine->product = penstock__alloc(rows * engine->products * sizeof *engine->product);
    if (!engine->made)
        engine->made = penstock__alloc(rows * engine->row_bytes);
    return engine->spectra && engine->product && engine->made ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

int penstock__filter_batch_init(struct filter_engine *engine)
{
    int status = penstock__filter_fused_init(engine, penstock__plan_executor(engine->forward)->state.device);
    return status || engine->fused.executor ? status : make_room(engine);
}

/* The rows of a batch, shared by threads. */
struct rows {
    struct filter_engine *engine;
    const struct filter_blocks *blocks;
    size_t channel, item;
};

/* The taps that hold at the start of a row. */
static const struct filter_taps *taps_of(const struct rows *rows, size_t row)
{
    const struct filter_taps *taps = rows->blocks->channels[rows->channel].taps;
    while (!penstock__filter_taps_end(&rows->engine->shape, taps, rows->blocks->first + row))
        taps = taps->next;
    return taps;
}

static char *out_of(const struct rows *rows, size_t row)
{
    const struct filter_shape *shape = &rows->engine->shape;
    return (char *)rows->blocks->channels[rows->channel].out + row * shape->values * shape->value_bytes;
}

static size_t end_of(const struct rows *rows, size_t item)
{
    size_t end = (item + 1) * rows->item;
    return end < rows->blocks->count ? end : rows->blocks->count;
}

/* Bins at a time of a sum of products, which stays in the nearest cache with those that are added. */
#define SUM_BINS 512

static void add_products(const struct filter_engine *engine, penstock_cf32 *to, size_t row,
                         const struct filter_taps *taps)
{
    size_t bins = engine->bins, partitions = engine->shape.partitions;
    memset(to, 0, bins * sizeof *to);
    for (size_t first = 0; first < bins; first += SUM_BINS) {
        size_t count = bins - first < SUM_BINS ? bins - first : SUM_BINS;
        for (size_t part = 0; part < partitions; part++)
            engine->kernels->accumulate(to + first, engine->spectra + (row + partitions - 1 - part) * bins + first,
                                        taps->spectrum + part * bins + first, count);
    }
}

static void multiply_row(const struct filter_engine *engine, penstock_cf32 *to, size_t row,
                         const struct filter_taps *taps)
{
    if (engine->shape.partitions > 1)
        add_products(engine, to, row, taps);
    else
        penstock__filter_multiply(engine, to, engine->spectra + row * engine->bins, taps);
}

static void multiply_item(void *argument, size_t item, unsigned worker)
{
    const struct rows *rows = argument;
    struct filter_engine *engine = rows->engine;
    (void)worker;
    for (size_t row = item * rows->item; row < end_of(rows, item); row++)
        multiply_row(engine, engine->product + row * engine->products, row, taps_of(rows, row));
}

static void store_item(void *argument, size_t item, unsigned worker)
{
    const struct rows *rows = argument;
    struct filter_engine *engine = rows->engine;
    (void)worker;
    for (size_t row = item * rows->item; row < end_of(rows, item); row++)
        penstock__filter_store(engine, taps_of(rows, row), out_of(rows, row), engine->made + row * engine->row_bytes,
                               rows->blocks->first + row, 0, engine->shape.values);
}

static void spread(struct rows *rows, void (*work)(void *argument, size_t item, unsigned worker), size_t row_values)
{
    rows->item = penstock__fair_share(rows->engine->context, rows->blocks->count, LEAST_VALUES / row_values + 1,
                                      ITEM_VALUES / row_values + 1);
    penstock__parallel(rows->engine->context, (rows->blocks->count + rows->item - 1) / rows->item, work, rows);
}

/* A row in which taps change: made again with those after `taps`, in the spare row, from where they take over. */
static int change_taps(const struct rows *rows, size_t row, const struct filter_taps *taps)
{
    struct filter_engine *engine = rows->engine;
    size_t spare = engine->rows, done, end, values = engine->shape.values;
    uint64_t block = rows->blocks->first + row;
    penstock_cf32 *product = engine->product + spare * engine->products;
    char *made = engine->made + spare * engine->row_bytes;
    for (done = penstock__filter_taps_end(&engine->shape, taps, block); done < values; done = end) {
        taps = taps->next;
        end = penstock__filter_taps_end(&engine->shape, taps, block);
        if (end <= done) {
            end = done;
            continue;
        }
        multiply_row(engine, product, row, taps);
        int status = penstock_plan_run(engine->reverse, product, made, 1);
        if (status)
            return status;
        penstock__filter_store(engine, taps, out_of(rows, row), made, block, done, end);
    }
    return PENSTOCK_OK;
}

static int run_channel(struct rows *rows)
{
    struct filter_engine *engine = rows->engine;
    size_t count = rows->blocks->count;
    spread(rows, multiply_item, engine->shape.n * engine->shape.partitions);
    int status = penstock_plan_run(engine->reverse, engine->product, engine->made, count);
    if (status)
        return status;
    spread(rows, store_item, engine->shape.m);
    const struct filter_taps *last = taps_of(rows, count - 1);
    if (last == taps_of(rows, 0) &&
        penstock__filter_taps_end(&engine->shape, last, rows->blocks->first + count - 1) == engine->shape.values)
        return PENSTOCK_OK;
    for (size_t row = 0; row < count && !status; row++)
        status = change_taps(rows, row, taps_of(rows, row));
    return status;
}

/* ---------------------------------------------------------------- in one kernel --------------- */

/* Rows from `row` on that have the same taps throughout; 0: they change within it. */
static size_t same_taps(const struct rows *rows, size_t row)
{
    const struct filter_taps *taps = taps_of(rows, row);
    const struct filter_shape *shape = &rows->engine->shape;
    size_t end = row;
    while (end < rows->blocks->count && taps_of(rows, end) == taps &&
           penstock__filter_taps_end(shape, taps, rows->blocks->first + end) == shape->values)
        end++;
    return end - row;
}

static const char *in_of(const struct rows *rows, size_t row)
{
    const struct filter_shape *shape = &rows->engine->shape;
    return (const char *)rows->blocks->in + row * shape->block * shape->sample_bytes;
}

/* A row in which taps change: made with each of them, in the spare row. */
static int run_change(const struct rows *rows, size_t row)
{
    struct filter_engine *engine = rows->engine;
    char *made = engine->fused.changed, *out = out_of(rows, row);
    size_t bytes = engine->shape.value_bytes;
    const struct filter_taps *taps = taps_of(rows, row);
    uint64_t block = rows->blocks->first + row;
    int status = PENSTOCK_OK;
    for (size_t done = 0, end; done < engine->shape.values && !status; done = end > done ? end : done) {
        end = penstock__filter_taps_end(&engine->shape, taps, block);
        if (end > done &&
            !(status = penstock__filter_fused_run(engine, rows->channel, taps, block, in_of(rows, row), 1, made)))
            memcpy(out + done * bytes, made + done * bytes, (end - done) * bytes);
        taps = taps->next;
    }
    return status;
}

static int run_fused(const struct rows *rows)
{
    int status = PENSTOCK_OK;
    for (size_t row = 0, count; row < rows->blocks->count && !status; row += count ? count : 1) {
        count = same_taps(rows, row);
        status = count
                     ? penstock__filter_fused_run(rows->engine, rows->channel, taps_of(rows, row),
                                                  rows->blocks->first + row, in_of(rows, row), count, out_of(rows, row))
                     : run_change(rows, row);
    }
    return status;
}

/* All channels, each with its own way of the samples to the device: less than spectra and products would take. */
static int run_channels_fused(struct filter_engine *engine, const struct filter_blocks *blocks)
{
    int status = PENSTOCK_OK;
    for (size_t channel = 0; channel < engine->channels && !status; channel++)
        status = run_fused(&(struct rows){.engine = engine, .blocks = blocks, .channel = channel});
    return status;
}

/* ---------------------------------------------------------------- on their way ---------------- */

bool penstock__filter_batch_can_send(struct filter_engine *engine, const struct filter_blocks *blocks, bool *refills)
{
    *refills = false;
    for (size_t channel = 0; channel < engine->channels; channel++) {
        struct rows rows = {.engine = engine, .blocks = blocks, .channel = channel};
        if (!engine->fused.executor || same_taps(&rows, 0) < blocks->count)
            return false;
        *refills = *refills || !penstock__filter_fused_holds(engine, channel, taps_of(&rows, 0));
    }
    return true;
}

/* A slot does what it is given in order: one channel after the other, with one wait for all. */
int penstock__filter_batch_send(struct filter_engine *engine, const struct filter_blocks *blocks, unsigned slot)
{
    int status = PENSTOCK_OK;
    for (size_t channel = 0; channel < engine->channels && !status; channel++) {
        struct rows rows = {.engine = engine, .blocks = blocks, .channel = channel};
        status = penstock__filter_fused_send(engine, channel, taps_of(&rows, 0), blocks->first, blocks->in,
                                             blocks->count, out_of(&rows, 0), slot);
    }
    return status;
}

/* ---------------------------------------------------------------- at once --------------------- */

int penstock__filter_batch_run(struct filter_engine *engine, const struct filter_blocks *blocks)
{
    int status;
    if (engine->fused.executor && !run_channels_fused(engine, blocks))
        return PENSTOCK_OK;
    if ((status = make_room(engine)))
        return status;
    status =
        penstock_plan_run(engine->forward, blocks->in, engine->spectra, blocks->count + engine->shape.partitions - 1);
    for (size_t channel = 0; channel < engine->channels && !status; channel++)
        status = run_channel(&(struct rows){.engine = engine, .blocks = blocks, .channel = channel});
    return status;
}
