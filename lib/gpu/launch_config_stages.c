/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Choice of radices, work-items and slots. */
#include "gpu/launch_config_choice.h"

#include <math.h>

#define USUAL_SLOTS 16

static void set_stages(struct gpu_launch_config *config, const unsigned *radices, unsigned count)
{
    unsigned left = config->n;
    config->stages = config->chain = count;
    for (unsigned s = 0; s < count; s++) {
        config->radix[s] = radices[s];
        config->span[s] = left /= radices[s];
    }
}

static void set_lanes(struct gpu_launch_config *config, unsigned lanes)
{
    config->lanes = lanes;
    config->slots = 1;
    for (unsigned s = 0; s < config->stages; s++) {
        config->share[s] = (config->n / config->radix[s] + lanes - 1) / lanes;
        if (config->share[s] * config->radix[s] > config->slots)
            config->slots = config->share[s] * config->radix[s];
    }
}

static void add_way_back(struct gpu_launch_config *config)
{
    unsigned left = config->n;
    for (unsigned s = 0; s < config->chain; s++) {
        unsigned from = config->chain - 1 - s, to = config->chain + s;
        config->radix[to] = config->radix[from];
        config->share[to] = config->share[from];
        config->span[to] = left /= config->radix[from];
    }
    config->stages = 2 * config->chain;
}

/* Operations of all work-items: butterflies, and for each point its twiddle factor, its exchange and its addresses; a
 * stage costs a barrier besides. */
double penstock__gpu_launch_config_cost(const struct gpu_launch_config *config)
{
    double sum = 0;
    for (unsigned s = 0; s < config->stages; s++)
        sum += (double)config->lanes * config->share[s] *
               (penstock__gpu_radix_cost(config->radix[s]) + 20.0 * config->radix[s]);
    sum *= config->slots > USUAL_SLOTS ? 1.2 : 1;
    if (config->cpu && config->lanes % GPU_CPU_LOWS)
        sum *= 1.5;
    return sum + 4.0 * config->n * config->stages;
}

struct choice {
    struct gpu_launch_config config, best;
    unsigned max_lanes, items; /* items: lanes that are asked for; 0: any */
    double least;
};

static void try_lanes(struct choice *choice, unsigned lanes)
{
    double sum;
    if (!lanes || lanes > choice->max_lanes || (choice->items && lanes != choice->items))
        return;
    set_lanes(&choice->config, lanes);
    if (choice->config.slots > GPU_MAX_SLOTS ||
        (sum = penstock__gpu_launch_config_cost(&choice->config)) >= choice->least)
        return;
    choice->best = choice->config;
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
    if (least_cost(choice->config.n, radices, count) >= choice->least)
        return;
    set_stages(&choice->config, radices, count);
    for (unsigned s = 0; s < count; s++)
        for (unsigned share = 1; share * radices[s] <= GPU_MAX_SLOTS; share++) {
            unsigned butterflies = choice->config.n / radices[s];
            try_lanes(choice, (butterflies + share - 1) / share);
        }
    try_lanes(choice, choice->items);
}

/* `radix`: of all stages but the last, or 0 for those of the preset. */
static bool use_preset(struct choice *choice, unsigned radix)
{
    unsigned n = choice->config.n, radices[GPU_MAX_STAGES], slots = radix;
    const struct gpu_preset *preset = penstock__gpu_preset(n, choice->config.cpu);
    if (!preset)
        return false;
    choice->best = choice->config;
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
    if (tuning->stages > GPU_MAX_STAGES / 2 || product != choice->config.n)
        return false;
    choice->best = choice->config;
    set_stages(&choice->best, tuning->radix, tuning->stages);
    set_lanes(&choice->best, tuning->lanes ? tuning->lanes : (product + USUAL_SLOTS - 1) / USUAL_SLOTS);
    return choice->best.slots <= GPU_MAX_SLOTS && choice->best.lanes <= choice->max_lanes;
}

bool penstock__gpu_launch_config_stages(struct gpu_launch_config *config, const struct gpu_requirements *requirements,
                                        const struct gpu_tuning *tuning, unsigned max_lanes)
{
    static const unsigned char most[] = {GPU_MAX_RADIX, 4, 2}, simple[] = {0, 4, 2};
    struct choice choice = {.config = *config, .max_lanes = max_lanes, .items = requirements->items, .least = INFINITY};
    unsigned radix = requirements->radix && requirements->radix < most[requirements->variant]
                         ? requirements->radix
                         : simple[requirements->variant];
    radix = requirements->radix == most[requirements->variant] ? requirements->radix : radix;
    if (requirements->items > max_lanes)
        return false;
    if (requirements->n == 1) {
        set_stages(config, (const unsigned[]){1}, 1);
        set_lanes(config, 1);
    } else {
        if (!(tuning->stages && use_tuning(&choice, tuning)) && !use_preset(&choice, radix))
            penstock__gpu_factor(requirements->n, radix ? radix : GPU_MAX_RADIX, try_radices, &choice);
        if (!choice.best.slots)
            return false;
        *config = choice.best;
    }
    if (requirements->twice)
        add_way_back(config);
    return true;
}
