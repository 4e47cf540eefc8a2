/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The life of an engine, and what its two ways have in common: the product and the store of a row. */
#include "core/devices.h"
#include "ops/fft.h"
#include "ops/filter_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Values of a batch where the device does not ask for more, and at most: half a millisecond of work, against the tens
 * of microseconds that threads take to wake. Blocks that stay near the processor shall find their samples in the
 * second-level cache, too. */
#define BATCH_VALUES     ((size_t)1 << 18)
#define NEAR_VALUES      ((size_t)1 << 17)
#define MAX_BATCH_VALUES ((size_t)1 << 22)

/* Samples that are worth the way to a device with memory of its own and back, alone or with others on the way. */
#define DEVICE_SAMPLES ((size_t)1 << 20)
#define FLIGHT_SAMPLES ((size_t)1 << 19)

/* Blocks for each part: so much more than the frames before the first block's own, which are transformed again with
 * each batch. */
#define PARTITIONS_SHARE 2

/* ---------------------------------------------------------------- plans ----------------------- */

/* Both on one device: the second plan follows the first where the library may choose. */
static int make_plans(struct filter_engine *engine, const char *device)
{
    const struct filter_shape *shape = &engine->shape;
    penstock_domain domain = shape->real ? PENSTOCK_REAL : PENSTOCK_COMPLEX;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    size_t batch = BATCH_VALUES / shape->n + 1;
    enum penstock_preference preference;
    const char *name;
    char text[64];
    int status =
        penstock__fft_plan_there(&engine->forward, engine->context,
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
    engine->device = info.device;
    return penstock__fft_plan_there(&engine->reverse, engine->context,
                                    &PENSTOCK_FFT_DESC(.n = shape->m, .domain = domain, .batch = batch,
                                                       .direction = PENSTOCK_REVERSE,
                                                       .load = {.spacing = engine->products}),
                                    device);
}

/* 0 where the device works on the caller's memory. */
static size_t device_rows(const struct filter_engine *engine)
{
    if (penstock__executor_in_host_memory(penstock__plan_executor(engine->forward)))
        return 0;
    return (engine->slots > 1 ? FLIGHT_SAMPLES : DEVICE_SAMPLES) / engine->shape.block;
}

/* Batches on their way at once share the latency. */
static void limit_latency(struct filter_engine *engine)
{
    const struct filter_shape *shape = &engine->shape;
    size_t one = shape->frame - shape->history, most = shape->max_latency + 1;
    size_t rows = most < one ? 1 : (most - one) / shape->block + 1;
    if (rows < engine->slots)
        engine->slots = 1;
    rows /= engine->slots;
    engine->rows = engine->rows < rows ? engine->rows : rows;
}

static int choose_rows(struct filter_engine *engine)
{
    const struct filter_shape *shape = &engine->shape;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status = engine->near ? PENSTOCK_OK : penstock_plan_get_info(engine->forward, &info);
    if (status)
        return status;
    const struct penstock_device *device = engine->near ? NULL : penstock__plan_executor(engine->forward)->state.device;
    bool fused = device && penstock__filter_fused_possible(device, shape);
    engine->slots = fused ? penstock__filter_fused_slots(device) : 1;
    size_t least = engine->near ? penstock__threads(engine->context) : info.best_batch;
    if (!engine->near && least < device_rows(engine))
        least = device_rows(engine);
    if (least < PARTITIONS_SHARE * shape->partitions && shape->partitions > 1)
        least = PARTITIONS_SHARE * shape->partitions;
    engine->rows = (engine->near ? NEAR_VALUES : BATCH_VALUES) / shape->n;
    if (engine->rows < least)
        engine->rows = least;
    if (engine->rows > MAX_BATCH_VALUES / shape->n)
        engine->rows = MAX_BATCH_VALUES / shape->n;
    if (!engine->rows)
        engine->rows = 1;
    if (shape->max_latency)
        limit_latency(engine);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- rotation -------------------- */

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

uint64_t penstock__filter_phase(const struct filter_shift *shift, uint64_t sample)
{
    return turns(shift->phase, 1) + turns(shift->shift, sample);
}

static int make_rotation(struct filter_rotation *rotation, const struct filter_shape *shape, struct filter_shift shift)
{
    rotation->shift = (struct filter_shift){shift.shift / (double)shape->interpolation, shift.phase};
    if (shift.shift == 0 && shift.phase == 0)
        return PENSTOCK_OK;
    if (!(rotation->table = penstock__alloc(shape->values * sizeof *rotation->table)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t j = 0; j < shape->values; j++)
        rotation->table[j] = unit(turns(rotation->shift.shift, j * shape->decimation));
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- life ------------------------ */

static int make_rotations(struct filter_engine *engine, const struct filter_shift *shifts, size_t count)
{
    int status = PENSTOCK_OK;
    if (!(engine->rotations = penstock__calloc(count, sizeof *engine->rotations)))
        return PENSTOCK_ERR_MEMORY;
    engine->channels = count;
    for (size_t c = 0; c < count && !status; c++)
        status = make_rotation(&engine->rotations[c], &engine->shape, shifts[c]);
    return status;
}

int penstock__filter_engine_new(struct filter_engine **engine, penstock_context *context,
                                const struct filter_shape *shape, const struct filter_shift *shifts,
                                size_t channel_count, const char *device)
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
    made->products = shape->real ? shape->m / 2 + 1 : shape->m;
    made->row_bytes = shape->m * (shape->real ? sizeof(float) : sizeof(penstock_cf32));
    if ((status = penstock__filter_near_pair(made, device)) || (!made->pair && (status = make_plans(made, device))) ||
        (status = make_rotations(made, shifts, channel_count)))
        goto fail;
    made->near = shape->partitions == 1 && (made->pair || penstock__filter_near_possible(made));
    if ((status = choose_rows(made)) ||
        (status = made->near ? penstock__filter_near_init(made) : penstock__filter_batch_init(made)))
        goto fail;
    *engine = made;
    return PENSTOCK_OK;
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
    penstock__filter_pair_free(engine->pair);
    for (size_t c = 0; c < engine->channels; c++)
        penstock__free(engine->rotations[c].table);
    penstock__free(engine->rotations);
    penstock__filter_fused_free(&engine->fused);
    penstock__free(engine->spectra);
    penstock__free(engine->product);
    penstock__free(engine->made);
    penstock__free(engine->scratch);
    penstock__free(engine);
}

const struct filter_shape *penstock__filter_engine_shape(const struct filter_engine *engine)
{
    return &engine->shape;
}

void penstock__filter_engine_start(struct filter_engine *engine, uint64_t sample)
{
    engine->shape.origin = sample;
}

/* Asked of the plan, which may have gone over to the CPU. */
const char *penstock__filter_engine_device(const struct filter_engine *engine)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    return engine->pair || penstock_plan_get_info(engine->forward, &info) ? engine->device : info.device;
}

size_t penstock__filter_engine_rows(const struct filter_engine *engine)
{
    return engine->rows;
}

bool penstock__filter_engine_near(const struct filter_engine *engine)
{
    return engine->near;
}

size_t penstock__filter_engine_samples(const struct filter_engine *engine, size_t rows)
{
    return (rows - 1) * engine->shape.block + engine->shape.frame;
}

int penstock__filter_engine_run(struct filter_engine *engine, const struct filter_blocks *blocks)
{
    if (!engine->near)
        return penstock__filter_batch_run(engine, blocks);
    penstock__filter_near_run(engine, blocks);
    return PENSTOCK_OK;
}

void penstock__filter_engine_set_event_times(struct filter_engine *engine, struct penstock__event_times *event_times)
{
    engine->event_times = event_times;
    if (engine->forward)
        penstock__plan_set_event_times(engine->forward, event_times);
    if (engine->reverse)
        penstock__plan_set_event_times(engine->reverse, event_times);
}

unsigned penstock__filter_engine_slots(const struct filter_engine *engine)
{
    return engine->fused.executor ? engine->slots : 1;
}

bool penstock__filter_engine_can_send(struct filter_engine *engine, const struct filter_blocks *blocks, bool *refills)
{
    return penstock__filter_engine_slots(engine) > 1 && penstock__filter_batch_can_send(engine, blocks, refills);
}

int penstock__filter_engine_send(struct filter_engine *engine, const struct filter_blocks *blocks, unsigned slot)
{
    return penstock__filter_batch_send(engine, blocks, slot);
}

int penstock__filter_engine_wait(struct filter_engine *engine, unsigned slot)
{
    return penstock__filter_fused_wait(engine, slot);
}

struct penstock_device *penstock__filter_engine_memory(const struct filter_engine *engine)
{
    return engine->near || !engine->forward ? NULL : penstock__plan_executor(engine->forward)->state.device;
}

int penstock__filter_engine_enqueue(struct filter_engine *engine, const struct filter_taps *taps, uint64_t first,
                                    const penstock_buffer *in, penstock_buffer *out, size_t count,
                                    penstock_queue *queue)
{
    return penstock__filter_fused_enqueue(engine, taps, first, in, out, count, queue);
}

int penstock__filter_engine_bench(penstock_bench **bench, struct filter_engine *engine, const struct filter_taps *taps,
                                  const void *in, size_t in_bytes, size_t count)
{
    return penstock__filter_fused_bench(bench, engine, taps, in, in_bytes, count);
}

/* ---------------------------------------------------------------- a row ----------------------- */

void penstock__filter_multiply(const struct filter_engine *engine, penstock_cf32 *to, const penstock_cf32 *spectrum,
                               const struct filter_taps *taps)
{
    const struct filter_shape *shape = &engine->shape;
    const struct filter_kernels *kernels = engine->kernels;
    (shape->real ? kernels->multiply_half : kernels->multiply)(to, spectrum, taps->spectrum, shape->n, shape->high,
                                                               shape->m);
}

static void pick(const struct filter_shape *shape, void *out, const char *made, size_t first, size_t count)
{
    size_t at = shape->first + first * shape->step, step = shape->step;
    const penstock_cf32 *values = (const void *)made;
    const float *floats = (const void *)made;
    if (shape->real_values)
        for (size_t j = 0; j < count; j++)
            ((float *)out)[j] = values[at + j * step].re;
    else if (step == 1)
        memcpy(out, made + at * shape->value_bytes, count * shape->value_bytes);
    else if (shape->real)
        for (size_t j = 0; j < count; j++)
            ((float *)out)[j] = floats[at + j * step];
    else
        for (size_t j = 0; j < count; j++)
            ((penstock_cf32 *)out)[j] = values[at + j * step];
}

void penstock__filter_store(const struct filter_engine *engine, size_t channel, void *out, const void *made,
                            uint64_t block, size_t first, size_t end)
{
    const struct filter_shape *shape = &engine->shape;
    const struct filter_rotation *rotation = &engine->rotations[channel];
    const penstock_cf32 *from = out;
    char *to = (char *)out + first * shape->value_bytes;
    if (rotation->table && shape->step == 1)
        from = (const penstock_cf32 *)made + shape->first + first;
    else
        pick(shape, to, made, first, end - first);
    if (rotation->table)
        engine->kernels->rotate(
            (penstock_cf32 *)(void *)to, shape->step == 1 ? from : (penstock_cf32 *)(void *)to, rotation->table + first,
            unit(penstock__filter_phase(&rotation->shift, penstock__filter_position(shape, block))), end - first);
}

size_t penstock__filter_taps_end(const struct filter_shape *shape, const struct filter_taps *taps, uint64_t block)
{
    uint64_t start = penstock__filter_position(shape, block);
    if (!taps->next || taps->next->from >= start + (uint64_t)shape->values * shape->decimation)
        return shape->values;
    return taps->next->from <= start ? 0
                                     : (size_t)((taps->next->from - start + shape->decimation - 1) / shape->decimation);
}
