/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks through all stages on one thread, while they are in its caches. */
#include "core/device/devices.h"
#include "ops/filter/filter_run.h"

#include <string.h>

/* Points that a thread takes at a time, and from which on another thread's help outweighs waking it. */
#define ITEM_POINTS     8192
#define LEAST_POINTS    4096 /* where that makes threads' shares alike */
#define PARALLEL_POINTS 32768

/* Points for each thread where much is waiting: samples and values shall be in its second-level cache. */
#define SHARE_POINTS 65536

/* Addresses this far apart share a place in the first-level cache, which has few for each. The legs of a transform are
 * such distances apart already: what it reads and what it writes shall not be, too. */
#define CACHE_WAY 4096

/* Points from which on a frame is long enough for the processor to fetch what follows by itself. */
#define LONGEST_FETCHED 4096
#define CACHE_LINE      64

/* ---------------------------------------------------------------- life ------------------------ */

/* The fastest kernels that compute the right thing. */
static int make_pair(struct filter_engine *engine)
{
    const struct pair_kernels *kernels;
    int status = PENSTOCK_OK;
    for (size_t i = 0; !engine->pair && (kernels = penstock__pair_kernels(i)); i++) {
        if ((status = penstock__filter_pair_new(&engine->pair, engine->shape.n, kernels)) ||
            !(status = penstock__filter_pair_check(engine->pair)))
            break;
        penstock__filter_pair_free(engine->pair);
        engine->pair = NULL;
        if (status != PENSTOCK_ERR_CHECK)
            break;
        penstock__log(engine->context, PENSTOCK_LOG_WARNING, "filter goes on without %s, since: %s", kernels->name,
                      penstock_error_text());
        status = PENSTOCK_OK;
    }
    engine->shape.pair = engine->pair;
    return status;
}

int penstock__filter_near_pair(struct filter_engine *engine, const char *device)
{
    const struct filter_shape *shape = &engine->shape;
    struct penstock_device *found;
    enum penstock_preference preference;
    const char *name;
    int status;
    if (shape->real || shape->fold > 1 || shape->interpolation > 1 || shape->partitions > 1 ||
        !penstock__filter_pair_fits(shape->n) || penstock__device_parse(&preference, &name, device) ||
        preference == PENSTOCK_DEVICE_AUTO)
        return PENSTOCK_OK;
    if ((status = penstock__device_find(engine->context, name, &found)) || strcmp(found->name, "cpu"))
        return status == PENSTOCK_ERR_MEMORY ? status : PENSTOCK_OK; /* what else is wrong a plan will say */
    engine->device = found->name;
    return make_pair(engine);
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
    size_t forward = 0, reverse = 0, spectrum = penstock__aligned(engine->bins * sizeof(penstock_cf32));
    if (!engine->pair) {
        penstock__plan_runs_frames(engine->forward, &forward);
        penstock__plan_runs_frames(engine->reverse, &reverse);
    }
    engine->product_at = in_place(engine) ? 0 : spectrum;
    engine->made_at =
        spectrum + (in_place(engine) ? 0 : penstock__aligned(engine->products * sizeof(penstock_cf32))) + CACHE_WAY / 2;
    engine->transform_at = engine->made_at + penstock__aligned(engine->row_bytes);
    engine->scratch_bytes = engine->transform_at + penstock__aligned(forward > reverse ? forward : reverse) + CACHE_WAY;
    engine->scratch = penstock__alloc(penstock__threads(engine->context) * engine->scratch_bytes);
    return engine->scratch ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* ---------------------------------------------------------------- a block --------------------- */

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

static void make_spectrum(const struct near *near, size_t row, char *scratch)
{
    const struct filter_engine *engine = near->engine;
    const struct filter_shape *shape = &engine->shape;
    const void *frame = frame_of(near, row);
    penstock_cf32 *converted = (void *)(scratch + engine->made_at);
    if (!engine->pair) {
        penstock__plan_run_frames(engine->forward, frame, 0, 1, scratch, scratch + engine->transform_at);
        return;
    }
    if (shape->format != PENSTOCK_CF32)
        penstock__convert(converted, frame, shape->format, 0, shape->n, shape->n);
    engine->pair->kernels->forward(engine->pair, (float *)(void *)scratch,
                                   shape->format == PENSTOCK_CF32 ? frame : converted);
}

/* Values `first` .. `end` - 1 of a block of which value 0 goes to `out`. */
static void make_values(const struct filter_engine *engine, const struct filter_taps *taps, uint64_t block,
                        size_t first, size_t end, char *out, char *scratch)
{
    const struct filter_shape *shape = &engine->shape;
    penstock_cf32 *spectrum = (void *)scratch, *product = (void *)(scratch + engine->product_at);
    char *made = scratch + engine->made_at;
    if (!engine->pair) {
        penstock__filter_multiply(engine, product, spectrum, taps);
        penstock__plan_run_frames(engine->reverse, product, 0, 1, made, scratch + engine->transform_at);
        penstock__filter_store(engine, taps, out, made, block, first, end);
        return;
    }
    bool direct = shape->step == 1 && !shape->real_values && !taps->rotation;
    engine->pair->kernels->reverse(engine->pair, (float *)(void *)product, (float *)(void *)spectrum,
                                   (const float *)(const void *)taps->spectrum,
                                   (penstock_cf32 *)(void *)(direct ? out + first * sizeof(penstock_cf32) : made),
                                   direct ? shape->first + first : 0, direct ? end - first : shape->n);
    if (!direct)
        penstock__filter_store(engine, taps, out, made, block, first, end);
}

/* One channel of a block whose spectrum is there, or lost to an earlier product: then it is made again. */
static void run_channel(const struct near *near, size_t row, size_t channel, char *scratch)
{
    const struct filter_engine *engine = near->engine;
    const struct filter_shape *shape = &engine->shape;
    const struct filter_taps *taps = near->blocks->channels[channel].taps;
    char *out = (char *)near->blocks->channels[channel].out + row * shape->values * shape->value_bytes;
    uint64_t block = near->blocks->first + row;
    for (size_t done = 0; done < shape->values; taps = taps->next) {
        size_t end = penstock__filter_taps_end(shape, taps, block);
        if (end <= done)
            continue;
        if (done && in_place(engine))
            make_spectrum(near, row, scratch);
        make_values(engine, taps, block, done, end, out, scratch);
        done = end;
    }
}

/* The memory from `scratch` on, up to a way further, that is the farthest from a frame and from where its values go. */
static char *apart(char *scratch, const char *frame, const char *out)
{
    uintptr_t ahead = ((uintptr_t)frame - (uintptr_t)out) % CACHE_WAY;
    uintptr_t middle = (uintptr_t)out + (ahead > CACHE_WAY / 2 ? ahead : ahead + CACHE_WAY) / 2;
    return scratch + (middle - (uintptr_t)scratch) % CACHE_WAY / 64 * 64;
}

/* Short frames end before the processor has seen that they follow each other: what the next one needs is asked for. */
static void fetch(const struct near *near, size_t row)
{
    const struct filter_shape *shape = &near->engine->shape;
    size_t in_bytes = shape->block * shape->sample_bytes, out_bytes = shape->values * shape->value_bytes;
    const char *in = frame_of(near, row) + shape->history * shape->sample_bytes;
    if (shape->n > LONGEST_FETCHED || row >= near->blocks->count)
        return;
    for (size_t at = 0; at < in_bytes; at += CACHE_LINE)
        __builtin_prefetch(in + at, 0, 2);
    for (size_t channel = 0; channel < near->engine->channels; channel++)
        for (size_t at = 0; at < out_bytes; at += CACHE_LINE)
            __builtin_prefetch((char *)near->blocks->channels[channel].out + row * out_bytes + at, 1, 2);
}

static void run_item(void *argument, size_t item, unsigned worker)
{
    const struct near *near = argument;
    const struct filter_engine *engine = near->engine;
    const char *out = near->blocks->channels[0].out;
    size_t out_bytes = engine->shape.values * engine->shape.value_bytes, end = (item + 1) * near->item;
    for (size_t row = item * near->item; row < end && row < near->blocks->count; row++) {
        char *scratch =
            apart(engine->scratch + worker * engine->scratch_bytes, frame_of(near, row), out + row * out_bytes);
        fetch(near, row + 1);
        make_spectrum(near, row, scratch);
        for (size_t channel = 0; channel < engine->channels; channel++)
            run_channel(near, row, channel, scratch);
    }
}

/* Of both transforms of a block, on average. */
static size_t points_of(const struct filter_engine *engine)
{
    return (engine->shape.n + engine->channels * engine->shape.m) / 2;
}

bool penstock__filter_engine_shares(const struct filter_engine *engine, size_t blocks)
{
    return engine->near && penstock__threads(engine->context) > 1 && blocks * points_of(engine) >= PARALLEL_POINTS;
}

size_t penstock__filter_engine_share(const struct filter_engine *engine)
{
    size_t threads = penstock__threads(engine->context), share = threads * (SHARE_POINTS / points_of(engine));
    return threads < 2 || !share ? 1 : share;
}

void penstock__filter_near_run(struct filter_engine *engine, const struct filter_blocks *blocks)
{
    struct near near = {.engine = engine, .blocks = blocks};
    const size_t points = points_of(engine);
    near.item =
        penstock__filter_engine_shares(engine, blocks->count)
            ? penstock__fair_share(engine->context, blocks->count, LEAST_POINTS / points, ITEM_POINTS / points + 1)
            : blocks->count;
    if (near.item)
        penstock__parallel(engine->context, (blocks->count + near.item - 1) / near.item, run_item, &near);
}
