/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A transform on a chip: where its points are, and how it is cut up. */
#include "gpu/shape_choice.h"

#include <string.h>

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

/*
 * Groups ahead whose rows are fetched: as many as there are multiprocessors, as long as that is not too much for the
 * cache. On an H200 that takes 1 to 3 % less time from 64 to 8192 points, and twice as many 30 % more at 8192;
 * convolutions gain nothing.
 */
static unsigned rows_ahead(const struct gpu_shape *shape, unsigned units)
{
    enum { MOST_POINTS = 8192 }; /* for each multiprocessor */
    unsigned points = shape->n * shape->per_group;
    return points > MOST_POINTS ? units * MOST_POINTS / points : units;
}

/* With 16 points in registers, 1024 work-items of 64 registers. */
static void choose_resident(struct gpu_shape *shape, const struct gpu_tuning *tuning,
                            const struct gpu_requirements *requirements, const struct gpu_limits *limits)
{
    unsigned groups = (shape->slots > 16 ? 512 : 1024) / penstock__gpu_group_size(shape);
    shape->resident = tuning->resident ? tuning->resident : groups ? groups : 1;
    shape->ahead = tuning->ahead == TUNING_NONE ? 0 : tuning->ahead;
    if (!tuning->ahead && !requirements->columns && !requirements->twice && !requirements->variant && !limits->cpu)
        shape->ahead = rows_ahead(shape, limits->units);
}

static int choose(struct gpu_shape *shape, const struct gpu_requirements *requirements, const struct gpu_limits *limits,
                  const struct gpu_tuning *tuning)
{
    memset(shape, 0, sizeof *shape);
    if (requirements->variant >= GPU_VARIANTS)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no variant %u", requirements->variant);
    shape->n = requirements->n;
    shape->cpu = limits->cpu;
    shape->columns = requirements->columns;
    shape->per_group = 1;
    if (!penstock__gpu_shape_stages(shape, requirements, tuning,
                                    requirements->columns ? limits->max_group / 4 : limits->max_group))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points do not fit a work-group of %u work-items", shape->n,
                               limits->max_group);
    if (!requirements->columns)
        return penstock__gpu_shape_rows(shape, requirements, limits, tuning);
    shape->lows = 1;
    return penstock__gpu_shape_columns(shape, requirements, limits, tuning);
}

/* Where registers are few: radices no larger than the points that a work-item should hold. */
static void want_few(struct gpu_requirements *requirements, struct gpu_tuning *tuning, const struct gpu_limits *limits)
{
    requirements->radix = limits->slots;
    *tuning = (struct gpu_tuning){.stages = 0};
}

int penstock__gpu_shape(struct gpu_shape *shape, const struct gpu_requirements *requirements,
                        const struct gpu_limits *limits)
{
    struct gpu_tuning tuning = penstock__gpu_shape_tuning(requirements, limits);
    struct gpu_requirements wanted = *requirements;
    const bool free =
        !requirements->variant && !requirements->radix && !requirements->items && !penstock__gpu_wanted(limits, 0);
    int status;
    if (free && limits->slots)
        want_few(&wanted, &tuning, limits);
    if ((status = choose(shape, &wanted, limits, &tuning)))
        return status;
    if (free && limits->most_slots && shape->slots > limits->most_slots)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points do not fit the registers of %u work-items",
                               shape->n, shape->lanes);
    choose_resident(shape, &tuning, &wanted, limits);
    return PENSTOCK_OK;
}
