/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks through all stages on one thread, while they are in its caches. */
#include "ops/filter_run.h"

/* Points that a thread takes at a time, and from which on another thread's help outweighs waking it. */
#define ITEM_POINTS     8192
#define PARALLEL_POINTS 32768

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

bool penstock__filter_near_possible(const struct filter_engine *engine)
{
    size_t bytes;
    return penstock__plan_runs_frames(engine->forward, &bytes) && penstock__plan_runs_frames(engine->reverse, &bytes);
}

/* The product may overwrite the spectrum where nobody else needs it. */
static bool in_place(const struct filter_engine *engine)
{
    return engine->channels == 1 && engine->shape.interpolation == 1;
}

int penstock__filter_near_init(struct filter_engine *engine)
{
    size_t forward, reverse, spectrum = round_up(engine->bins * sizeof(penstock_cf32));
    penstock__plan_runs_frames(engine->forward, &forward);
    penstock__plan_runs_frames(engine->reverse, &reverse);
    engine->product_at = in_place(engine) ? 0 : spectrum;
    engine->made_at = spectrum + (in_place(engine) ? 0 : round_up(engine->products * sizeof(penstock_cf32)));
    engine->transform_at = engine->made_at + round_up(engine->row_bytes);
    engine->scratch_bytes = engine->transform_at + round_up(forward > reverse ? forward : reverse);
    engine->scratch = penstock__alloc(penstock__threads(engine->context) * engine->scratch_bytes);
    return engine->scratch ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

struct near {
    const struct filter_engine *engine;
    const struct filter_blocks *blocks;
    size_t item; /* blocks */
};

static const char *frame_of(const struct near *near, size_t row)
{
    const struct filter_blocks *blocks = near->blocks;
    size_t bytes = near->engine->shape.block * near->engine->shape.sample_bytes;
    return row < blocks->near ? (const char *)blocks->in + row * bytes
                              : (const char *)blocks->far + (row - blocks->near) * bytes;
}

/* One channel of a block whose spectrum is there, or lost to an earlier product: then it is made again. */
static void run_channel(const struct near *near, size_t row, size_t channel, char *scratch)
{
    const struct filter_engine *engine = near->engine;
    const struct filter_shape *shape = &engine->shape;
    const struct filter_taps *taps = near->blocks->channels[channel].taps;
    penstock_cf32 *spectrum = (void *)scratch, *product = (void *)(scratch + engine->product_at);
    char *out = (char *)near->blocks->channels[channel].out + row * shape->values * shape->value_bytes;
    uint64_t block = near->blocks->first + row;
    for (size_t done = 0; done < shape->values; taps = taps->next) {
        size_t end = penstock__filter_taps_end(shape, taps, block);
        if (end <= done)
            continue;
        if (done && product == spectrum)
            penstock__plan_run_frame(engine->forward, frame_of(near, row), spectrum, scratch + engine->transform_at);
        penstock__filter_multiply(engine, product, spectrum, taps);
        penstock__plan_run_frame(engine->reverse, product, scratch + engine->made_at, scratch + engine->transform_at);
        penstock__filter_store(engine, channel, out, scratch + engine->made_at, block, done, end);
        done = end;
    }
}

static void run_item(void *argument, size_t item, unsigned worker)
{
    const struct near *near = argument;
    const struct filter_engine *engine = near->engine;
    char *scratch = engine->scratch + worker * engine->scratch_bytes;
    size_t end = (item + 1) * near->item;
    for (size_t row = item * near->item; row < end && row < near->blocks->count; row++) {
        penstock__plan_run_frame(engine->forward, frame_of(near, row), scratch, scratch + engine->transform_at);
        for (size_t channel = 0; channel < engine->channels; channel++)
            run_channel(near, row, channel, scratch);
    }
}

void penstock__filter_near_run(struct filter_engine *engine, const struct filter_blocks *blocks)
{
    struct near near = {.engine = engine, .blocks = blocks};
    size_t points = engine->shape.n + engine->channels * engine->shape.m, all = blocks->count * points / 2;
    near.item = all < PARALLEL_POINTS ? blocks->count : 2 * ITEM_POINTS / points + 1;
    if (near.item)
        penstock__parallel(engine->context, (blocks->count + near.item - 1) / near.item, run_item, &near);
}
