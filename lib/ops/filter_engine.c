/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A batch of blocks through two child FFT plans, on whatever device, and through the product and the trim on the CPU's
 * threads.
 */
#include "ops/filter_engine.h"
#include "core/devices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Values of a batch where the device does not ask for more, and at most: half a millisecond of work, against the tens
 * of microseconds that threads take to wake while one of them copies. */
#define BATCH_VALUES     ((size_t)1 << 18)
#define MAX_BATCH_VALUES ((size_t)1 << 22)

/* Values that are worth another thread's attention. */
#define ITEM_VALUES 16384

/* A multiple that keeps frames aligned for vector instructions: 64 bytes of the smallest samples with vectors. */
#define ALIGNED_SAMPLES 16

/* ---------------------------------------------------------------- shape ----------------------- */

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool penstock__filter_shape_set(struct filter_shape *shape, size_t n)
{
    size_t d = shape->decimation, unit = d / common_divisor(d, ALIGNED_SAMPLES) * ALIGNED_SAMPLES;
    shape->n = n;
    shape->fold = common_divisor(d, n);
    shape->m = n / shape->fold;
    shape->step = d / shape->fold;
    shape->history = (shape->taps - 1 + shape->fold - 1) / shape->fold * shape->fold;
    if (n < shape->history + d)
        return false;
    if ((n - shape->history) / unit < 16)
        unit = d;
    shape->block = (n - shape->history) / unit * unit;
    shape->values = shape->block / d;
    shape->sample_bytes = penstock_format_bytes(shape->format);
    shape->value_bytes = shape->real || shape->real_values ? sizeof(float) : sizeof(penstock_cf32);
    return true;
}

/* ---------------------------------------------------------------- life ------------------------ */

/* Both on one device: the second plan follows the first where the library may choose or move. */
static int make_plans(struct filter_engine *engine, const char *device)
{
    const struct filter_shape *shape = &engine->shape;
    penstock_domain domain = shape->real ? PENSTOCK_REAL : PENSTOCK_COMPLEX;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    size_t batch = BATCH_VALUES / shape->n + 1;
    enum penstock_preference preference;
    const char *name;
    char text[64];
    int status = penstock_fft_plan(&engine->forward, engine->context,
                                   &PENSTOCK_FFT_DESC(.n = shape->n, .domain = domain, .batch = batch,
                                                      .load = {.format = shape->format, .spacing = shape->block}),
                                   device);
    if (status || (status = penstock__device_parse(&preference, &name, device)) ||
        (status = penstock_plan_get_info(engine->forward, &info)))
        return status;
    if (preference != PENSTOCK_DEVICE_NAMED) {
        snprintf(text, sizeof text, "prefer:%s", info.device);
        device = text;
    }
    return penstock_fft_plan(&engine->reverse, engine->context,
                             &PENSTOCK_FFT_DESC(.n = shape->m, .domain = domain, .batch = batch,
                                                .direction = PENSTOCK_REVERSE, .load = {.spacing = engine->bins}),
                             device);
}

static int choose_rows(struct filter_engine *engine)
{
    const struct filter_shape *shape = &engine->shape;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status = penstock_plan_get_info(engine->forward, &info);
    if (status)
        return status;
    engine->rows = BATCH_VALUES / shape->n;
    if (engine->rows < info.best_batch)
        engine->rows = info.best_batch;
    if (engine->rows > MAX_BATCH_VALUES / shape->n)
        engine->rows = MAX_BATCH_VALUES / shape->n;
    if (shape->max_latency) {
        size_t one = shape->n - shape->history, most = shape->max_latency + 1;
        size_t rows = most < one ? 1 : (most - one) / shape->block + 1;
        engine->rows = engine->rows < rows ? engine->rows : rows;
    }
    if (!engine->rows)
        engine->rows = 1;
    return PENSTOCK_OK;
}

/* Turns in units of 2^-64, modulo one: exact at any sample but for the rounding of the shift itself. */
static uint64_t turns(double shift, uint64_t samples)
{
    return (uint64_t)(int64_t)(shift * 0x1p63) * 2 * samples;
}

static penstock_cf32 unit(uint64_t turns)
{
    double angle = 2 * PI * 0x1p-64 * (double)(int64_t)turns;
    return (penstock_cf32){(float)cos(angle), (float)sin(angle)};
}

uint64_t penstock__filter_phase(const struct filter_shape *shape, uint64_t sample)
{
    return (uint64_t)(int64_t)(shape->phase * 0x1p63) * 2 + turns(shape->shift, sample);
}

static int make_table(struct filter_engine *engine)
{
    const struct filter_shape *shape = &engine->shape;
    if (shape->shift == 0 && shape->phase == 0)
        return PENSTOCK_OK;
    if (!(engine->table = penstock__alloc(shape->values * sizeof *engine->table)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t j = 0; j < shape->values; j++)
        engine->table[j] = unit(turns(shape->shift, j * shape->decimation));
    return PENSTOCK_OK;
}

int penstock__filter_engine_new(struct filter_engine **engine, penstock_context *context,
                                const struct filter_shape *shape, const char *device)
{
    struct filter_engine *made = penstock__calloc(1, sizeof *made);
    int status;
    *engine = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->context = context;
    made->shape = *shape;
    made->kernels = penstock__filter_kernels();
    made->bins = shape->real ? shape->n / 2 + 1 : shape->n;
    made->row_bytes = shape->m * (shape->real ? sizeof(float) : sizeof(penstock_cf32));
    if ((status = make_plans(made, device)) || (status = choose_rows(made)) || (status = make_table(made)))
        goto fail;
    made->spectra = penstock__alloc((made->rows + 1) * made->bins * sizeof *made->spectra);
    made->made = penstock__alloc((made->rows + 1) * made->row_bytes);
    if (made->spectra && made->made) {
        *engine = made;
        return PENSTOCK_OK;
    }
    status = PENSTOCK_ERR_MEMORY;
fail:
    penstock__filter_engine_free(made);
    return status;
}

void penstock__filter_engine_free(struct filter_engine *engine)
{
    if (!engine)
        return;
    penstock_plan_free(engine->reverse);
    penstock_plan_free(engine->forward);
    penstock__free(engine->spectra);
    penstock__free(engine->made);
    penstock__free(engine->table);
    penstock__free(engine);
}

size_t penstock__filter_engine_samples(const struct filter_engine *engine, size_t rows)
{
    return (rows - 1) * engine->shape.block + engine->shape.n;
}

/* ---------------------------------------------------------------- a batch --------------------- */

/* Where a row's values begin among the transform's: after what has wrapped around, or in front where they were
 * picked out. */
static size_t first_value(const struct filter_shape *shape)
{
    return shape->step > 1 || shape->real_values ? 0 : shape->history / shape->fold;
}

const void *penstock__filter_engine_row(const struct filter_engine *engine, size_t row)
{
    return engine->made + row * engine->row_bytes + first_value(&engine->shape) * engine->shape.value_bytes;
}

static uint64_t block_position(const struct filter_shape *shape, uint64_t block)
{
    return block * shape->block + shape->advance;
}

static void multiply_row(struct filter_engine *engine, size_t row, const struct filter_taps *taps)
{
    const struct filter_shape *shape = &engine->shape;
    (shape->real ? engine->kernels->multiply_half : engine->kernels->multiply)(engine->spectra + row * engine->bins,
                                                                               taps->spectrum, shape->n, shape->m);
}

static void pick_real(float *values, const penstock_cf32 *from, size_t step, size_t count)
{
    for (size_t j = 0; j < count; j++)
        values[j] = from[j * step].re;
}

/* What is not read where the transform put it moves to the row's front; nothing is overwritten before it is read. */
static void trim_row(struct filter_engine *engine, size_t row, uint64_t block)
{
    const struct filter_shape *shape = &engine->shape;
    size_t wrapped = shape->history / shape->fold;
    char *values = engine->made + row * engine->row_bytes;
    if (shape->real_values) {
        pick_real((float *)(void *)values, (penstock_cf32 *)(void *)values + wrapped, shape->step, shape->values);
    } else if (shape->step > 1 && shape->real) {
        float *v = (float *)(void *)values;
        for (size_t j = 0; j < shape->values; j++)
            v[j] = v[wrapped + j * shape->step];
    } else if (shape->step > 1) {
        penstock_cf32 *v = (penstock_cf32 *)(void *)values;
        for (size_t j = 0; j < shape->values; j++)
            v[j] = v[wrapped + j * shape->step];
    }
    if (engine->table)
        engine->kernels->rotate((penstock_cf32 *)(void *)values + first_value(shape), engine->table,
                                unit(penstock__filter_phase(shape, block_position(shape, block))), shape->values);
}

/* The rows of a batch, shared by threads. */
struct rows {
    struct filter_engine *engine;
    const struct filter_taps *taps;
    uint64_t first;
    size_t count, item;
};

static void multiply_item(void *argument, size_t item, unsigned worker)
{
    const struct rows *rows = argument;
    size_t end = (item + 1) * rows->item < rows->count ? (item + 1) * rows->item : rows->count;
    const struct filter_taps *taps = rows->taps;
    (void)worker;
    for (size_t row = item * rows->item; row < end; row++) {
        uint64_t start = block_position(&rows->engine->shape, rows->first + row);
        while (taps->next && taps->next->from <= start)
            taps = taps->next;
        multiply_row(rows->engine, row, taps);
    }
}

static void trim_item(void *argument, size_t item, unsigned worker)
{
    const struct rows *rows = argument;
    size_t end = (item + 1) * rows->item < rows->count ? (item + 1) * rows->item : rows->count;
    (void)worker;
    for (size_t row = item * rows->item; row < end; row++)
        trim_row(rows->engine, row, rows->first + row);
}

static void spread(struct rows *rows, void (*work)(void *argument, size_t item, unsigned worker), size_t row_values)
{
    rows->item = ITEM_VALUES / row_values + 1;
    penstock__parallel(rows->engine->context, (rows->count + rows->item - 1) / rows->item, work, rows);
}

/* The block in which `taps` begin to hold: made again with them, in the spare row, from where the change is put in. */
static int change_taps(const struct rows *rows, const char *in, const struct filter_taps *taps)
{
    struct filter_engine *engine = rows->engine;
    const struct filter_shape *shape = &engine->shape;
    uint64_t from = taps->from - block_position(shape, rows->first);
    size_t row = (size_t)(from / shape->block), spare = engine->rows, done;
    int status = penstock_plan_run(engine->forward, in + row * shape->block * shape->sample_bytes,
                                   engine->spectra + spare * engine->bins, 1);
    if (status)
        return status;
    multiply_row(engine, spare, taps);
    if ((status = penstock_plan_run(engine->reverse, engine->spectra + spare * engine->bins,
                                    engine->made + spare * engine->row_bytes, 1)))
        return status;
    trim_row(engine, spare, rows->first + row);
    done = (size_t)(from % shape->block + shape->decimation - 1) / shape->decimation;
    size_t at = (first_value(shape) + done) * shape->value_bytes;
    memcpy(engine->made + row * engine->row_bytes + at, engine->made + spare * engine->row_bytes + at,
           (shape->values - done) * shape->value_bytes);
    return PENSTOCK_OK;
}

int penstock__filter_engine_run(struct filter_engine *engine, const void *in, uint64_t first, size_t count,
                                const struct filter_taps *taps)
{
    const struct filter_shape *shape = &engine->shape;
    struct rows rows = {.engine = engine, .taps = taps, .first = first, .count = count};
    int status = penstock_plan_run(engine->forward, in, engine->spectra, count);
    if (status)
        return status;
    spread(&rows, multiply_item, shape->n);
    if ((status = penstock_plan_run(engine->reverse, engine->spectra, engine->made, count)))
        return status;
    if (shape->step > 1 || shape->real_values || engine->table)
        spread(&rows, trim_item, shape->m);
    for (const struct filter_taps *next = taps->next; next && !status; next = next->next) {
        uint64_t start = block_position(shape, first), end = block_position(shape, first + count);
        if (next->from > start && next->from < end)
            status = change_taps(&rows, in, next);
    }
    return status;
}
