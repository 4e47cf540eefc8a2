/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Choice of radices, slots and local memory for a transform on a chip. */
#include "gpu/shape.h"
#include "gpu/knobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CPU_LOWS    8 /* floats of an AVX register */
#define USUAL_SLOTS 16

static unsigned log2_of(unsigned n)
{
    unsigned bits = 0;
    while (n >> (bits + 1))
        bits++;
    return bits;
}

/* ---------------------------------------------------------------- stages ---------------------- */

unsigned penstock__gpu_limit(const struct gpu_shape *shape, unsigned s, unsigned b)
{
    unsigned left = shape->n / shape->radix[s] - b * shape->lanes;
    return left < shape->lanes ? left : shape->lanes;
}

/* The way back starts with the slots as they lie. */
unsigned penstock__gpu_slot_in(const struct gpu_shape *shape, unsigned s, unsigned b, unsigned k)
{
    return s && s == shape->chain ? penstock__gpu_slot_out(shape, s - 1, b, k) : b + k * shape->share[s];
}

unsigned penstock__gpu_slot_out(const struct gpu_shape *shape, unsigned s, unsigned b, unsigned k)
{
    return penstock__gpu_slot_in(shape, s, b, penstock__gpu_radix_order(shape->radix[s], k));
}

unsigned penstock__gpu_offset(const struct gpu_shape *shape, unsigned s, unsigned b, unsigned k)
{
    return b * shape->lanes + k * (shape->n / shape->radix[s]);
}

static void set_stages(struct gpu_shape *shape, const unsigned *radices, unsigned count)
{
    unsigned left = shape->n;
    shape->stages = shape->chain = count;
    for (unsigned s = 0; s < count; s++) {
        shape->radix[s] = radices[s];
        shape->span[s] = left /= radices[s];
    }
}

static void set_lanes(struct gpu_shape *shape, unsigned lanes)
{
    shape->lanes = lanes;
    shape->slots = 1;
    for (unsigned s = 0; s < shape->stages; s++) {
        shape->share[s] = (shape->n / shape->radix[s] + lanes - 1) / lanes;
        if (shape->share[s] * shape->radix[s] > shape->slots)
            shape->slots = shape->share[s] * shape->radix[s];
    }
}

static void add_way_back(struct gpu_shape *shape)
{
    unsigned left = shape->n;
    for (unsigned s = 0; s < shape->chain; s++) {
        unsigned from = shape->chain - 1 - s, to = shape->chain + s;
        shape->radix[to] = shape->radix[from];
        shape->share[to] = shape->share[from];
        shape->span[to] = left /= shape->radix[from];
    }
    shape->stages = 2 * shape->chain;
}

/* ---------------------------------------------------------------- choice ---------------------- */

/* Operations of all work-items: butterflies, and for each point its twiddle factor, its exchange and its addresses; a
 * stage costs a barrier besides. */
double penstock__gpu_shape_cost(const struct gpu_shape *shape)
{
    double sum = 0;
    for (unsigned s = 0; s < shape->stages; s++)
        sum += (double)shape->lanes * shape->share[s] *
               (penstock__gpu_radix_cost(shape->radix[s]) + 20.0 * shape->radix[s]);
    sum *= shape->slots > USUAL_SLOTS ? 1.2 : 1;
    if (shape->cpu && shape->lanes % CPU_LOWS)
        sum *= 1.5;
    return sum + 4.0 * shape->n * shape->stages;
}

struct choice {
    struct gpu_shape shape, best;
    unsigned max_lanes, items; /* items: lanes that are asked for; 0: any */
    double least;
};

static void try_lanes(struct choice *choice, unsigned lanes)
{
    double sum;
    if (!lanes || lanes > choice->max_lanes || (choice->items && lanes != choice->items))
        return;
    set_lanes(&choice->shape, lanes);
    if (choice->shape.slots > GPU_MAX_SLOTS || (sum = penstock__gpu_shape_cost(&choice->shape)) >= choice->least)
        return;
    choice->best = choice->shape;
    choice->least = sum;
}

/* What no number of work-items costs less than: that of butterflies which come out even in all stages. */
static double least_cost(unsigned n, const unsigned *radices, unsigned count)
{
    double sum = 4.0 * n * count;
    for (unsigned s = 0; s < count; s++)
        sum += (double)(n / radices[s]) * (penstock__gpu_radix_cost(radices[s]) + 20.0 * radices[s]);
    return sum;
}

/* Work-items for which some stage comes out even. */
static void try_radices(void *argument, const unsigned *radices, unsigned count)
{
    struct choice *choice = argument;
    if (least_cost(choice->shape.n, radices, count) >= choice->least)
        return;
    set_stages(&choice->shape, radices, count);
    for (unsigned s = 0; s < count; s++)
        for (unsigned share = 1; share * radices[s] <= GPU_MAX_SLOTS; share++) {
            unsigned butterflies = choice->shape.n / radices[s];
            try_lanes(choice, (butterflies + share - 1) / share);
        }
    try_lanes(choice, choice->items);
}

struct recipe {
    unsigned char slots, radix[4], per_group; /* per_group 0: as fills a group best */
};

/*
 * Powers of two, by log2 n. A GPU: few stages, at most 16 points in registers, and enough work-items to read whole
 * lines of memory; measured on an H200. A CPU: eight work-items make a vector, so the last radix and with it the other
 * spans are multiples of 8.
 */
static const struct recipe gpu_recipes[] = {{0},
                                            {2, {2}},
                                            {4, {4}},
                                            {4, {4, 2}},
                                            {4, {4, 4}},
                                            {4, {4, 4, 2}},
                                            {8, {8, 8}, 8},
                                            {16, {16, 8}},
                                            {16, {16, 16}, 2},
                                            {8, {8, 8, 8}, 1},
                                            {16, {16, 16, 4}},
                                            {16, {16, 16, 8}},
                                            {16, {16, 16, 16}},
                                            {16, {8, 8, 16, 8}},
                                            {16, {16, 16, 16, 4}}};
static const struct recipe cpu_recipes[] = {{0},
                                            {2, {2}},
                                            {4, {4}},
                                            {8, {8}},
                                            {16, {16}},
                                            {8, {4, 8}},
                                            {8, {8, 8}},
                                            {16, {16, 8}},
                                            {8, {4, 8, 8}},
                                            {8, {8, 8, 8}},
                                            {8, {2, 8, 8, 8}},
                                            {8, {4, 8, 8, 8}},
                                            {8, {8, 8, 8, 8}},
                                            {16, {16, 8, 8, 8}},
                                            {16, {16, 16, 8, 8}}};

/* `radix`: of all stages but the last, or 0 for those of the recipe. */
static bool use_recipe(struct choice *choice, unsigned radix)
{
    unsigned n = choice->shape.n, bits = log2_of(n), radices[GPU_MAX_STAGES], slots = radix;
    const struct recipe *recipe;
    if (n & (n - 1) || bits >= sizeof gpu_recipes / sizeof gpu_recipes[0])
        return false;
    recipe = &(choice->shape.cpu ? cpu_recipes : gpu_recipes)[bits];
    choice->best = choice->shape;
    for (unsigned s = 0, left = n; left > 1; s++) {
        radices[s] = radix ? radix : recipe->radix[s];
        radices[s] = radices[s] > left ? left : radices[s];
        left /= radices[s];
        set_stages(&choice->best, radices, s + 1);
    }
    if (!radix)
        slots = recipe->slots;
    while (n / slots > choice->max_lanes)
        slots *= 2;
    set_lanes(&choice->best, choice->items ? choice->items : n / (slots < n ? slots : n));
    if (choice->best.slots > GPU_MAX_SLOTS)
        choice->best.slots = 0;
    return choice->best.slots;
}

/*
 * Rows and columns for which the least cost was not the least time on an H200. Points of a column lie far apart, so
 * that whole lines of memory count more than groups of usual size, and what the next groups need is fetched ahead.
 */
static const struct measured {
    unsigned n;
    bool columns;
    unsigned half_waves; /* groups ahead, for each two multiprocessors */
    struct gpu_knobs knobs;
} measured[] = {
    {1200, false, 0, {.radix = {15, 10, 8}, .stages = 3, .lanes = 80, .per_group = 2}},
    {1280, false, 0, {.radix = {10, 8, 16}, .stages = 3, .lanes = 80, .per_group = 2}},
    {9216, false, 0, {.radix = {12, 8, 8, 12}, .stages = 4, .lanes = 384, .resident = 2, .pad = 1}},
    {144, true, 0, {.radix = {12, 12}, .stages = 2, .lanes = 12, .per_group = 16, .resident = 6}},
    {512, true, 0, {.radix = {16, 8, 4}, .stages = 3, .lanes = 32, .per_group = 16}},
    {1024, true, 1, {.radix = {8, 8, 16}, .stages = 3, .lanes = 64, .per_group = 16}},
    {2048, true, 1, {.radix = {8, 16, 16}, .stages = 3, .lanes = 128, .per_group = 8}},
};

/* What is asked for or was measured; nothing for other variants and CPUs. */
static struct gpu_knobs knobs_of(const struct gpu_wish *wish, const struct gpu_limits *limits)
{
    struct gpu_knobs knobs = {.stages = 0};
    if (wish->variant || limits->cpu || wish->radix || wish->items || wish->group)
        return knobs;
    penstock__gpu_knobs(&knobs, wish->n, getenv("PENSTOCK_GPU_SHAPE"));
    for (const struct measured *m = measured; m < measured + sizeof measured / sizeof *measured && !knobs.stages; m++)
        if (m->n == wish->n && m->columns == wish->columns &&
            m->knobs.lanes <= limits->max_group / (m->columns ? 4 : 1)) {
            knobs = m->knobs;
            knobs.ahead = m->half_waves * limits->units / 2;
        }
    return knobs;
}

/* What knobs say; false where it cannot be. */
static bool use_knobs(struct choice *choice, const struct gpu_knobs *knobs)
{
    unsigned product = 1;
    for (unsigned s = 0; s < knobs->stages; s++) {
        product *= knobs->radix[s];
        if (!penstock__gpu_is_radix(knobs->radix[s]))
            return false;
    }
    if (knobs->stages > GPU_MAX_STAGES / 2 || product != choice->shape.n)
        return false;
    choice->best = choice->shape;
    set_stages(&choice->best, knobs->radix, knobs->stages);
    set_lanes(&choice->best, knobs->lanes ? knobs->lanes : (product + USUAL_SLOTS - 1) / USUAL_SLOTS);
    return choice->best.slots <= GPU_MAX_SLOTS && choice->best.lanes <= choice->max_lanes;
}

static bool choose_stages(struct gpu_shape *shape, const struct gpu_wish *wish, const struct gpu_knobs *knobs,
                          unsigned max_lanes)
{
    static const unsigned char most[] = {GPU_MAX_RADIX, 4, 2}, simple[] = {0, 4, 2};
    struct choice choice = {.shape = *shape, .max_lanes = max_lanes, .items = wish->items, .least = INFINITY};
    unsigned radix = wish->radix && wish->radix < most[wish->variant] ? wish->radix : simple[wish->variant];
    radix = wish->radix == most[wish->variant] ? wish->radix : radix;
    if (wish->items > max_lanes)
        return false;
    if (wish->n == 1) {
        set_stages(shape, (const unsigned[]){1}, 1);
        set_lanes(shape, 1);
    } else {
        if (!(knobs->stages && use_knobs(&choice, knobs)) && !use_recipe(&choice, radix))
            penstock__gpu_factor(wish->n, radix ? radix : GPU_MAX_RADIX, try_radices, &choice);
        if (!choice.best.slots)
            return false;
        *shape = choice.best;
    }
    if (wish->twice)
        add_way_back(shape);
    return true;
}

/* ---------------------------------------------------------------- local memory ---------------- */

/* Points that are touched where work-items with nothing to do read along. */
static unsigned reach(const struct gpu_shape *shape)
{
    unsigned most = shape->n;
    for (unsigned s = 0; s < shape->stages; s++) {
        unsigned j = shape->share[s] * shape->lanes - 1, span = shape->span[s];
        unsigned last = j / span * span * shape->radix[s] + j % span + (shape->radix[s] - 1) * span;
        if (last >= most)
            most = last + 1;
    }
    return most;
}

static unsigned padded(unsigned points, unsigned shift)
{
    return points + (shift ? points >> shift : 0);
}

static void choose_local(struct gpu_shape *shape, const struct gpu_limits *limits, const struct gpu_wish *wish,
                         const struct gpu_knobs *knobs)
{
    size_t budget = limits->local_bytes / sizeof(float) / shape->per_group;
    unsigned points = limits->cpu ? reach(shape) : shape->n;
    shape->exchanges = shape->chain - 1 + wish->unpack + (wish->twice ? shape->chain - 1 : 0);
    shape->pad_shift = limits->cpu || (shape->columns && shape->per_group >= 16) ? 0 : 4;
    if (knobs->pad)
        shape->pad_shift = knobs->pad - 1;
    shape->buffers = limits->cpu && shape->exchanges > 1 ? 2 : 1;
    shape->plane = padded(points, shape->pad_shift);
    if (shape->buffers * 2 * shape->plane > budget)
        shape->buffers = 1;
    shape->halves = (2 * shape->plane > budget || knobs->halves == 1) && !wish->unpack;
    if (shape->halves) {
        shape->pad_shift = limits->cpu ? 0 : shape->columns ? 4 : 5;
        shape->plane = padded(points, shape->pad_shift);
    }
    if ((shape->halves ? 1 : 2) * shape->plane > budget) {
        shape->pad_shift = 0;
        shape->plane = points;
    }
    shape->joined = !limits->cpu && !shape->halves;
    shape->turned = wish->turned && shape->joined && 2 * (size_t)(shape->n | 1) <= budget;
    if (shape->turned && shape->plane < (shape->n | 1))
        shape->plane = shape->n | 1;
    shape->region = shape->exchanges || shape->turned ? (shape->halves ? 1 : 2 * shape->buffers) * shape->plane : 0;
}

/* How well transforms of so many work-items fill warps of 32 and a group of usual size. */
static double fill(unsigned lanes, unsigned per_group)
{
    double group = lanes * per_group, warps = ceil(group / 32);
    return group / (32 * warps) - (group < 128 ? (128 - group) * 0.002 : (group - 128) * 0.0002);
}

/* Rows: as many as make a work-group of usual size. */
static void choose_group(struct gpu_shape *shape, const struct gpu_limits *limits, const struct gpu_wish *wish,
                         const struct gpu_knobs *knobs)
{
    unsigned most = limits->cpu ? 32 : 256, best = 1;
    size_t bytes = penstock__gpu_local_bytes(shape);
    unsigned wanted = knobs->per_group;
    if (wish->group)
        shape->per_group = wish->group;
    if (wish->group || (wish->variant > 0 && shape->lanes >= 8))
        return;
    if (!wanted && !limits->cpu && !wish->variant && (shape->n & (shape->n - 1)) == 0 &&
        shape->stages == shape->chain && log2_of(shape->n) < sizeof gpu_recipes / sizeof gpu_recipes[0])
        wanted = gpu_recipes[log2_of(shape->n)].per_group;
    most = most < limits->max_group ? most : limits->max_group;
    for (unsigned per_group = 2; per_group * shape->lanes <= most && per_group * bytes <= limits->local_bytes;
         per_group = limits->cpu ? 2 * per_group : per_group + 1)
        if (limits->cpu || fill(shape->lanes, per_group) > fill(shape->lanes, best))
            best = per_group;
    if (wanted && wanted * bytes <= limits->local_bytes && wanted * shape->lanes <= limits->max_group)
        best = wanted;
    shape->per_group = best;
}

static int group_fits(const struct gpu_shape *shape, const struct gpu_limits *limits)
{
    if (penstock__gpu_group_size(shape) <= limits->max_group && penstock__gpu_local_bytes(shape) <= limits->local_bytes)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                           "%u transforms of %u work-items and %zu bytes of local memory do not fit a work-group",
                           shape->per_group, shape->lanes, penstock__gpu_local_bytes(shape));
}

/* Columns: whole sectors of memory at least. */
static int choose_columns(struct gpu_shape *shape, const struct gpu_wish *wish, const struct gpu_limits *limits,
                          const struct gpu_knobs *knobs)
{
    enum { MOST = 16, LEAST = 4, USUAL_GROUP = 512, ALONE = 128 };
    if (wish->group || (shape->chain == 1 && shape->lanes == 1 && !wish->twice && !wish->turned)) {
        shape->per_group = wish->group ? wish->group : ALONE < limits->max_group ? ALONE : limits->max_group;
        choose_local(shape, limits, wish, knobs);
        return group_fits(shape, limits);
    }
    for (shape->per_group = knobs->per_group ? knobs->per_group : MOST; shape->per_group >= LEAST;
         shape->per_group /= 2) {
        if (penstock__gpu_group_size(shape) > limits->max_group ||
            (penstock__gpu_group_size(shape) > USUAL_GROUP && shape->per_group > LEAST && !limits->cpu &&
             shape->per_group != knobs->per_group))
            continue;
        choose_local(shape, limits, wish, knobs);
        if (penstock__gpu_local_bytes(shape) <= limits->local_bytes)
            return PENSTOCK_OK;
    }
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "columns of %u points do not fit a work-group", shape->n);
}

/* With 16 points in registers, 1024 work-items of 64 registers. */
static void choose_resident(struct gpu_shape *shape, const struct gpu_knobs *knobs)
{
    unsigned groups = (shape->slots > 16 ? 512 : 1024) / penstock__gpu_group_size(shape);
    shape->resident = knobs->resident ? knobs->resident : groups ? groups : 1;
    shape->ahead = knobs->ahead;
}

static int choose(struct gpu_shape *shape, const struct gpu_wish *wish, const struct gpu_limits *limits,
                  const struct gpu_knobs *knobs)
{
    memset(shape, 0, sizeof *shape);
    if (wish->variant >= GPU_VARIANTS)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no variant %u", wish->variant);
    shape->n = wish->n;
    shape->cpu = limits->cpu;
    shape->columns = wish->columns;
    shape->per_group = 1;
    if (!choose_stages(shape, wish, knobs, wish->columns ? limits->max_group / 4 : limits->max_group))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points do not fit a work-group of %u work-items", shape->n,
                               limits->max_group);
    if (wish->columns) {
        shape->lows = 1;
        return choose_columns(shape, wish, limits, knobs);
    }
    shape->lows = limits->cpu && shape->lanes % CPU_LOWS == 0 ? CPU_LOWS : shape->lanes;
    choose_local(shape, limits, wish, knobs);
    if (penstock__gpu_local_bytes(shape) > limits->local_bytes)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points need %zu bytes of local memory, the device has %zu",
                               shape->n, penstock__gpu_local_bytes(shape), limits->local_bytes);
    choose_group(shape, limits, wish, knobs);
    return group_fits(shape, limits);
}

int penstock__gpu_shape(struct gpu_shape *shape, const struct gpu_wish *wish, const struct gpu_limits *limits)
{
    struct gpu_knobs knobs = knobs_of(wish, limits);
    int status;
    if (!(status = choose(shape, wish, limits, &knobs)))
        choose_resident(shape, &knobs);
    return status;
}
