/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The life of an engine, and which of its ways a run takes. */
#include "core/choice/side_by_side.h"
#include "core/device/devices.h"
#include "ops/fft/fft.h"
#include "ops/filter/filter_run.h"

#include <stdio.h>

/* Values of a batch where the device does not ask for more, and at most: half a millisecond of work, against the tens
 * of microseconds that threads take to wake. Blocks that stay near the processor shall find their samples in the
 * second-level cache, too. */
#define BATCH_VALUES     ((size_t)1 << 18)
#define NEAR_VALUES      ((size_t)1 << 17)
#define MAX_BATCH_VALUES ((size_t)1 << 22)

/* Samples, or values where there are more, that are worth the way to a device with memory of its own and back. */
#define DEVICE_SAMPLES ((size_t)1 << 20)

/* Blocks for each part: so much more than the frames before the first block's own, which are transformed again with
 * each batch. */
#define PARTITIONS_SHARE 2

/* Points up to which the transform of taps is prepared once: 16 bytes each. */
#define MOST_KEPT 65536

/* ---------------------------------------------------------------- plans ----------------------- */

enum part { FORWARD, REVERSE, FUSED };

/* What is made on a device. */
struct making {
    struct filter_engine *engine;
    const char *device;
    struct penstock_device *compiled_for; /* or NULL */
    char text[64];
};

/* The second plan follows the first where the library may choose. */
static int follow(struct making *making)
{
    enum penstock_preference preference;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    const char *name;
    int status = penstock__device_parse(&preference, &name, making->device);
    if (status || preference != PENSTOCK_DEVICE_AUTO)
        return status;
    status = penstock_plan_get_info(making->engine->forward, &info);
    snprintf(making->text, sizeof making->text, "prefer:%s", info.device);
    making->device = making->text;
    return status;
}

static int make_part(void *owner, unsigned which)
{
    struct making *making = owner;
    struct filter_engine *engine = making->engine;
    const struct filter_shape *shape = &engine->shape;
    penstock_fft_desc desc = PENSTOCK_FFT_DESC(.domain = shape->real ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                                               .batch = BATCH_VALUES / shape->n + 1);
    int status;
    if (which == FUSED)
        return penstock__filter_fused_make(engine, making->compiled_for);
    if (which == FORWARD) {
        desc.n = shape->n;
        desc.load.format = shape->format;
        desc.load.spacing = shape->block;
        return penstock__fft_plan_there(&engine->forward, engine->context, &desc, making->device);
    }
    desc.n = shape->m;
    desc.direction = PENSTOCK_REVERSE;
    desc.load.spacing = engine->products;
    if (!making->compiled_for && (status = follow(making)))
        return status;
    return penstock__fft_plan_there(&engine->reverse, engine->context, &desc, making->device);
}

/* Both on one device, and beside them, where its compiler takes longest, the kernel for all of it. */
static int make_plans(struct filter_engine *engine, const char *device)
{
    struct making making = {.engine = engine, .device = device};
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status = penstock__compiled_for(&making.compiled_for, engine->context, device);
    if (!status)
        status =
            penstock__side_by_side(make_part, &making, making.compiled_for ? FUSED + 1 : FUSED, making.compiled_for);
    if (!status && !(status = penstock_plan_get_info(engine->forward, &info)))
        engine->device = info.device;
    return status;
}

/* 0 where the device works on the caller's memory. */
static size_t device_rows(const struct filter_engine *engine)
{
    const struct filter_shape *shape = &engine->shape;
    return penstock__executor_in_host_memory(penstock__plan_executor(engine->forward))
               ? 0
               : DEVICE_SAMPLES / (shape->block > shape->values ? shape->block : shape->values);
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

/* ---------------------------------------------------------------- life ------------------------ */

/* For the taps' spectra; where there is none for the length, taps make their own each time. */
static int make_taps_dft(struct filter_engine *engine)
{
    int status = PENSTOCK_OK;
    if (engine->shape.high <= MOST_KEPT)
        status = penstock__dft_plan_new(&engine->taps_dft, engine->shape.high, PENSTOCK_FORWARD);
    engine->shape.taps_dft = engine->taps_dft;
    return status;
}

int penstock__filter_engine_new(struct filter_engine **engine, penstock_context *context,
                                const struct filter_shape *shape, size_t channel_count, const char *device)
{
    struct filter_engine *made = penstock__calloc(1, sizeof *made);
    int status;
    *engine = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->context = context;
    made->shape = *shape;
    made->channels = channel_count;
    made->kernels = penstock__filter_kernels();
    made->bins = shape->real ? shape->n / 2 + 1 : shape->n;
    made->products = shape->real ? shape->m / 2 + 1 : shape->m;
    made->row_bytes = shape->m * (shape->real ? sizeof(float) : sizeof(penstock_cf32));
    if ((status = penstock__filter_near_pair(made, device)) || (!made->pair && (status = make_plans(made, device))) ||
        (status = make_taps_dft(made)))
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
    penstock__plan_free(engine->reverse);
    penstock__plan_free(engine->forward);
    penstock__filter_pair_free(engine->pair);
    penstock__dft_plan_free(engine->taps_dft);
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
