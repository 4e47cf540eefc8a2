/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Choice of radices, work-items and slots. */
#include "gpu/shape_choice.h"

#include <math.h>

#define USUAL_SLOTS 16

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

/* Operations of all work-items: butterflies, and for each point its twiddle factor, its exchange and its addresses; a
 * stage costs a barrier besides. */
double penstock__gpu_shape_cost(const struct gpu_shape *shape)
{
    double sum = 0;
    for (unsigned s = 0; s < shape->stages; s++)
        sum += (double)shape->lanes * shape->share[s] *
               (penstock__gpu_radix_cost(shape->radix[s]) + 20.0 * shape->radix[s]);
    sum *= shape->slots > USUAL_SLOTS ? 1.2 : 1;
    if (shape->cpu && shape->lanes % GPU_CPU_LOWS)
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

/* `radix`: of all stages but the last, or 0 for those of the preset. */
static bool use_preset(struct choice *choice, unsigned radix)
{
    unsigned n = choice->shape.n, radices[GPU_MAX_STAGES], slots = radix;
    const struct gpu_preset *preset = penstock__gpu_preset(n, choice->shape.cpu);
    if (!preset)
        return false;
    choice->best = choice->shape;
    for (unsigned s = 0, left = n; left > 1; s++) {
        radices[s] = radix ? radix : preset->radix[s];
        radices[s] = radices[s] > left ? left : radices[s];
        left /= radices[s];
        set_stages(&choice->best, radices, s + 1);
    }
    if (!radix)
        slots = preset->slots;
    while (n / slots > choice->max_lanes)
        slots *= 2;
    set_lanes(&choice->best, choice->items ? choice->items : n / (slots < n ? slots : n));
    if (choice->best.slots > GPU_MAX_SLOTS)
        choice->best.slots = 0;
    return choice->best.slots;
}

/* What tuning parameters say; false where it cannot be. */
static bool use_tuning(struct choice *choice, const struct gpu_tuning *tuning)
{
    unsigned product = 1;
    for (unsigned s = 0; s < tuning->stages; s++) {
        product *= tuning->radix[s];
        if (!penstock__gpu_is_radix(tuning->radix[s]))
            return false;
    }
    if (tuning->stages > GPU_MAX_STAGES / 2 || product != choice->shape.n)
        return false;
    choice->best = choice->shape;
    set_stages(&choice->best, tuning->radix, tuning->stages);
    set_lanes(&choice->best, tuning->lanes ? tuning->lanes : (product + USUAL_SLOTS - 1) / USUAL_SLOTS);
    return choice->best.slots <= GPU_MAX_SLOTS && choice->best.lanes <= choice->max_lanes;
}

bool penstock__gpu_shape_stages(struct gpu_shape *shape, const struct gpu_requirements *requirements,
                                const struct gpu_tuning *tuning, unsigned max_lanes)
{
    static const unsigned char most[] = {GPU_MAX_RADIX, 4, 2}, simple[] = {0, 4, 2};
    struct choice choice = {.shape = *shape, .max_lanes = max_lanes, .items = requirements->items, .least = INFINITY};
    unsigned radix = requirements->radix && requirements->radix < most[requirements->variant]
                         ? requirements->radix
                         : simple[requirements->variant];
    radix = requirements->radix == most[requirements->variant] ? requirements->radix : radix;
    if (requirements->items > max_lanes)
        return false;
    if (requirements->n == 1) {
        set_stages(shape, (const unsigned[]){1}, 1);
        set_lanes(shape, 1);
    } else {
        if (!(tuning->stages && use_tuning(&choice, tuning)) && !use_preset(&choice, radix))
            penstock__gpu_factor(requirements->n, radix ? radix : GPU_MAX_RADIX, try_radices, &choice);
        if (!choice.best.slots)
            return false;
        *shape = choice.best;
    }
    if (requirements->twice)
        add_way_back(shape);
    return true;
}
