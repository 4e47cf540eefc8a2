/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Choice of what transforms do with local memory, and of how many make a work-group. */
#include "gpu/shape_choice.h"

#include <math.h>

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

static unsigned gcd(unsigned a, unsigned b)
{
    return b ? gcd(b, a % b) : a;
}

/*
 * Work-item j takes points of block j / span, of span neighbours; blocks lie span * radix apart. Gaps make consecutive
 * work-items meet consecutive banks. Where whole blocks fill the banks it is enough to shift by one block what would
 * meet the first ones again; else each block follows the one before. `banks`: that consecutive work-items meet at once.
 */
static void choose_gap(struct gpu_shape *shape, unsigned s, unsigned banks)
{
    unsigned span = shape->span[s], step = span * shape->radix[s], blocks, most = shape->lanes < banks ? 2 : 8;
    if (banks % shape->lanes == 0)
        banks = shape->lanes; /* the next work-items are those of the next transform */
    blocks = banks / span;
    if (banks % span == 0 && gcd(shape->radix[s], blocks) > 1) {
        shape->every[s] = blocks / gcd(shape->radix[s], blocks) * step;
        shape->gap[s] = span;
    } else if (banks % span && (span - step) % banks * most <= 2 * step) {
        shape->every[s] = step;
        shape->gap[s] = (span - step) % banks;
    }
}

/*
 * Gaps of all exchanges: those that are asked for, else the best of them that leave the points in `most` places; and
 * the memory that it takes. Transforms of a group lie so that their work-items meet consecutive banks too.
 */
static void choose_gaps(struct gpu_shape *shape, const struct gpu_tuning *tuning, size_t most, unsigned points)
{
    unsigned across = shape->columns ? shape->per_group : 1, banks = (shape->halves ? 32 : 16) / across;
    shape->plane = points;
    for (unsigned s = 0; s < shape->stages; s++) {
        unsigned end;
        shape->every[s] = 1;
        shape->gap[s] = 0;
        if (!s || s == shape->chain || shape->cpu)
            continue;
        if (tuning->pad > 1) {
            shape->every[s] = 1u << (tuning->pad - 1);
            shape->gap[s] = 1;
        } else if (!tuning->pad && banks > 1)
            choose_gap(shape, s, banks);
        if ((end = penstock__gpu_place(shape, s, points - 1) + 1) > most)
            shape->gap[s] = 0;
        else if (end > shape->plane)
            shape->plane = end;
    }
    if (!shape->columns && !shape->cpu && shape->plane + banks <= most)
        shape->plane += (shape->lanes - shape->plane) % banks;
}

static void choose_local(struct gpu_shape *shape, const struct gpu_limits *limits,
                         const struct gpu_requirements *requirements, const struct gpu_tuning *tuning)
{
    size_t budget = limits->local_bytes / sizeof(float) / shape->per_group;
    unsigned points = limits->cpu ? reach(shape) : shape->n;
    shape->exchanges = shape->chain - 1 + requirements->unpack + (requirements->twice ? shape->chain - 1 : 0);
    shape->buffers = limits->cpu && shape->exchanges > 1 ? 2 : 1;
    shape->halves = false;
    choose_gaps(shape, tuning, SIZE_MAX, points);
    if (shape->buffers * 2 * shape->plane > budget)
        shape->buffers = 1;
    shape->halves = (2 * shape->plane > budget || tuning->halves == 1) && !requirements->unpack;
    if (shape->halves || 2 * shape->plane > budget)
        choose_gaps(shape, tuning, budget / (shape->halves ? 1 : 2), points);
    shape->joined = !limits->cpu && !shape->halves;
    shape->turned = requirements->turned && shape->joined && 2 * (size_t)(shape->n | 1) <= budget;
    if (shape->turned && shape->plane < (shape->n | 1))
        shape->plane = shape->n | 1;
    shape->region = shape->exchanges || shape->turned ? (shape->halves ? 1 : 2 * shape->buffers) * shape->plane : 0;
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
static void choose_group(struct gpu_shape *shape, const struct gpu_limits *limits,
                         const struct gpu_requirements *requirements, const struct gpu_tuning *tuning)
{
    unsigned most = limits->cpu ? 32 : 256, best = 1;
    size_t bytes = penstock__gpu_local_bytes(shape);
    const struct gpu_preset *preset = penstock__gpu_preset(shape->n, limits->cpu);
    unsigned wanted = tuning->per_group;
    if (requirements->group)
        shape->per_group = requirements->group;
    if (requirements->group || (requirements->variant > 0 && shape->lanes >= 8))
        return;
    if (!wanted && !limits->cpu && !requirements->variant && shape->stages == shape->chain && preset)
        wanted = limits->wave > 32 && preset->per_group * shape->lanes % limits->wave ? 0 : preset->per_group;
    most = most < limits->max_group ? most : limits->max_group;
    for (unsigned per_group = 2; per_group * shape->lanes <= most && per_group * bytes <= limits->local_bytes;
         per_group = limits->cpu ? 2 * per_group : per_group + 1)
        if (limits->cpu || fill(shape->lanes, per_group, wave_of(limits)) > fill(shape->lanes, best, wave_of(limits)))
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
int penstock__gpu_shape_columns(struct gpu_shape *shape, const struct gpu_requirements *requirements,
                                const struct gpu_limits *limits, const struct gpu_tuning *tuning)
{
    enum { MOST = 16, LEAST = 4, USUAL_GROUP = 512, ALONE = 128 };
    if (requirements->group ||
        (shape->chain == 1 && shape->lanes == 1 && !requirements->twice && !requirements->turned)) {
        shape->per_group = requirements->group         ? requirements->group
                           : ALONE < limits->max_group ? ALONE
                                                       : limits->max_group;
        choose_local(shape, limits, requirements, tuning);
        return group_fits(shape, limits);
    }
    for (shape->per_group = tuning->per_group ? tuning->per_group : MOST; shape->per_group >= LEAST;
         shape->per_group /= 2) {
        if (penstock__gpu_group_size(shape) > limits->max_group ||
            (penstock__gpu_group_size(shape) > USUAL_GROUP && shape->per_group > LEAST && !limits->cpu &&
             shape->per_group != tuning->per_group))
            continue;
        choose_local(shape, limits, requirements, tuning);
        if (penstock__gpu_local_bytes(shape) <= limits->local_bytes)
            return PENSTOCK_OK;
    }
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "columns of %u points do not fit a work-group", shape->n);
}

int penstock__gpu_shape_rows(struct gpu_shape *shape, const struct gpu_requirements *requirements,
                             const struct gpu_limits *limits, const struct gpu_tuning *tuning)
{
    shape->lows = limits->cpu && shape->lanes % GPU_CPU_LOWS == 0 ? GPU_CPU_LOWS : shape->lanes;
    choose_local(shape, limits, requirements, tuning);
    if (penstock__gpu_local_bytes(shape) > limits->local_bytes)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points need %zu bytes of local memory, the device has %zu",
                               shape->n, penstock__gpu_local_bytes(shape), limits->local_bytes);
    choose_group(shape, limits, requirements, tuning);
    return group_fits(shape, limits);
}
