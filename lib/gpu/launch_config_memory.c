/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Choice of what transforms do with local memory, and of how many make a work-group. */
#include "gpu/launch_config_choice.h"

#include <math.h>

/* Points that are touched where work-items with nothing to do read along. */
static unsigned reach(const struct gpu_launch_config *config)
{
    unsigned most = config->n;
    for (unsigned s = 0; s < config->stages; s++) {
        unsigned j = config->share[s] * config->lanes - 1, span = config->span[s];
        unsigned last = j / span * span * config->radix[s] + j % span + (config->radix[s] - 1) * span;
        if (last >= most)
            most = last + 1;
    }
    return most;
}

/*
 * Work-item j takes points of block j / span, of span neighbours; blocks lie span * radix apart. Gaps make consecutive
 * work-items meet consecutive banks. Where whole blocks fill the banks it is enough to shift by one block what would
 * meet the first ones again; else each block follows the one before. `banks`: that consecutive work-items meet at once.
 */
static void choose_gap(struct gpu_launch_config *config, unsigned s, unsigned banks)
{
    unsigned span = config->span[s], step = span * config->radix[s], blocks, most = config->lanes < banks ? 2 : 8;
    if (banks % config->lanes == 0)
        banks = config->lanes; /* the next work-items are those of the next transform */
    blocks = banks / span;
    unsigned common = (unsigned)penstock__common_divisor(config->radix[s], blocks);
    if (banks % span == 0 && common > 1) {
        config->every[s] = blocks / common * step;
        config->gap[s] = span;
    } else if (banks % span && (span - step) % banks * most <= 2 * step) {
        config->every[s] = step;
        config->gap[s] = (span - step) % banks;
    }
}

/*
 * Gaps of all exchanges: those that are asked for, else the best of them that leave the points in `most` places; and
 * the memory that it takes. Transforms of a group lie so that their work-items meet consecutive banks too.
 */
static void choose_gaps(struct gpu_launch_config *config, const struct gpu_tuning *tuning, size_t most, unsigned points)
{
    unsigned across = config->columns ? config->per_group : 1, banks = (config->halves ? 32 : 16) / across;
    config->plane = points;
    for (unsigned s = 0; s < config->stages; s++) {
        unsigned end;
        config->every[s] = 1;
        config->gap[s] = 0;
        if (!s || s == config->chain || config->cpu)
            continue;
        if (tuning->pad > 1) {
            config->every[s] = 1u << (tuning->pad - 1);
            config->gap[s] = 1;
        } else if (!tuning->pad && banks > 1)
            choose_gap(config, s, banks);
        if ((end = penstock__gpu_place(config, s, points - 1) + 1) > most)
            config->gap[s] = 0;
        else if (end > config->plane)
            config->plane = end;
    }
    if (!config->columns && !config->cpu && config->plane + banks <= most)
        config->plane += (config->lanes - config->plane) % banks;
}

/*
 * Where gaps leave local memory for fewer waves than there should be, points change places within GPU_SWIZZLE by
 * exclusive or with what the gaps would be: neighbours meet consecutive banks as well, and no place is left free. Of
 * powers of two, where work-items that meet are those of one transform and give whole rows of banks.
 */
static void choose_swizzle(struct gpu_launch_config *config, const struct gpu_limits *limits,
                           const struct gpu_tuning *tuning)
{
    bool even = !(config->n & (config->n - 1)) && config->lanes % GPU_SWIZZLE == 0 && !config->columns;
    for (unsigned s = 0; s < config->stages && even; s++)
        even = config->n / config->radix[s] % GPU_SWIZZLE == 0;
    if (!even || !config->joined || tuning->pad || !limits->item_bytes ||
        2 * sizeof(float) * config->plane <= (size_t)limits->item_bytes * config->lanes)
        return;
    config->swizzled = true;
    config->plane = config->n;
}

static void choose_local(struct gpu_launch_config *config, const struct gpu_limits *limits,
                         const struct gpu_requirements *requirements, const struct gpu_tuning *tuning)
{
    size_t budget = limits->local_bytes / sizeof(float) / config->per_group;
    unsigned points = limits->cpu ? reach(config) : config->n;
    config->exchanges = config->chain - 1 + requirements->unpack + (requirements->twice ? config->chain - 1 : 0);
    config->buffers = limits->cpu && config->exchanges > 1 ? 2 : 1;
    config->halves = false;
    choose_gaps(config, tuning, SIZE_MAX, points);
    if (config->buffers * 2 * config->plane > budget)
        config->buffers = 1;
    config->halves = (2 * config->plane > budget || tuning->halves == 1) && !requirements->unpack;
    if (config->halves || 2 * config->plane > budget)
        choose_gaps(config, tuning, budget / (config->halves ? 1 : 2), points);
    config->joined = !limits->cpu && !config->halves;
    choose_swizzle(config, limits, tuning);
    config->turned = requirements->turned && config->joined && 2 * (size_t)(config->n | 1) <= budget;
    if (config->turned && config->plane < (config->n | 1))
        config->plane = config->n | 1;
    config->region =
        config->exchanges || config->turned ? (config->halves ? 1 : 2 * config->buffers) * config->plane : 0;
}

static unsigned wave_of(const struct gpu_limits *limits)
{
    return limits->wave ? limits->wave : 32;
}

/* How well transforms of so many work-items fill waves and a group of usual size. */
static double fill(unsigned lanes, unsigned per_group, unsigned wave)
{
    double group = lanes * per_group, waves = ceil(group / wave);
    return group / (wave * waves) - (group < 128 ? (128 - group) * 0.002 : (group - 128) * 0.0002);
}

/* Rows: as many as make a work-group of usual size. */
static void choose_group(struct gpu_launch_config *config, const struct gpu_limits *limits,
                         const struct gpu_requirements *requirements, const struct gpu_tuning *tuning)
{
    unsigned most = limits->cpu ? 32 : 256, best = 1;
    size_t bytes = penstock__gpu_local_bytes(config);
    const struct gpu_preset *preset = penstock__gpu_preset(config->n, limits->cpu);
    unsigned wanted = tuning->per_group;
    if (requirements->group)
        config->per_group = requirements->group;
    if (requirements->group || (requirements->variant > 0 && config->lanes >= 8))
        return;
    if (!wanted && !limits->cpu && !requirements->variant && config->stages == config->chain && preset)
        wanted = limits->wave > 32 && preset->per_group * config->lanes % limits->wave ? 0 : preset->per_group;
    most = penstock__gpu_group(limits, most);
    for (unsigned per_group = 2; per_group * config->lanes <= most && per_group * bytes <= limits->local_bytes;
         per_group = limits->cpu ? 2 * per_group : per_group + 1)
        if (limits->cpu || fill(config->lanes, per_group, wave_of(limits)) > fill(config->lanes, best, wave_of(limits)))
            best = per_group;
    if (wanted && wanted * bytes <= limits->local_bytes && wanted * config->lanes <= limits->max_group)
        best = wanted;
    config->per_group = best;
}

static int group_fits(const struct gpu_launch_config *config, const struct gpu_limits *limits)
{
    if (penstock__gpu_group_size(config) <= limits->max_group &&
        penstock__gpu_local_bytes(config) <= limits->local_bytes)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                           "%u transforms of %u work-items and %zu bytes of local memory do not fit a work-group",
                           config->per_group, config->lanes, penstock__gpu_local_bytes(config));
}

/* Columns: whole sectors of memory at least. */
int penstock__gpu_launch_config_columns(struct gpu_launch_config *config, const struct gpu_requirements *requirements,
                                        const struct gpu_limits *limits, const struct gpu_tuning *tuning)
{
    enum { MOST = 16, LEAST = 4, USUAL_GROUP = 512, ALONE = 128 };
    if (requirements->group ||
        (config->chain == 1 && config->lanes == 1 && !requirements->twice && !requirements->turned)) {
        config->per_group = requirements->group         ? requirements->group
                            : ALONE < limits->max_group ? ALONE
                                                        : limits->max_group;
        choose_local(config, limits, requirements, tuning);
        return group_fits(config, limits);
    }
    for (config->per_group = tuning->per_group ? tuning->per_group : MOST; config->per_group >= LEAST;
         config->per_group /= 2) {
        if (penstock__gpu_group_size(config) > limits->max_group ||
            (penstock__gpu_group_size(config) > USUAL_GROUP && config->per_group > LEAST && !limits->cpu &&
             config->per_group != tuning->per_group))
            continue;
        choose_local(config, limits, requirements, tuning);
        if (penstock__gpu_local_bytes(config) <= limits->local_bytes)
            return PENSTOCK_OK;
    }
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "columns of %u points do not fit a work-group", config->n);
}

int penstock__gpu_launch_config_rows(struct gpu_launch_config *config, const struct gpu_requirements *requirements,
                                     const struct gpu_limits *limits, const struct gpu_tuning *tuning)
{
    config->lows = limits->cpu && config->lanes % GPU_CPU_LOWS == 0 ? GPU_CPU_LOWS : config->lanes;
    choose_local(config, limits, requirements, tuning);
    if (penstock__gpu_local_bytes(config) > limits->local_bytes)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points need %zu bytes of local memory, the device has %zu",
                               config->n, penstock__gpu_local_bytes(config), limits->local_bytes);
    choose_group(config, limits, requirements, tuning);
    return group_fits(config, limits);
}
