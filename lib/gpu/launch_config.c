/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A transform on a chip: where its points are, and how it is cut up. */
#include "gpu/launch_config_choice.h"

#include <string.h>

/* ---------------------------------------------------------------- stages ---------------------- */

unsigned penstock__gpu_limit(const struct gpu_launch_config *config, unsigned s, unsigned b)
{
    unsigned left = config->n / config->radix[s] - b * config->lanes;
    return left < config->lanes ? left : config->lanes;
}

/* The way back starts with the slots as they lie. */
unsigned penstock__gpu_slot_in(const struct gpu_launch_config *config, unsigned s, unsigned b, unsigned k)
{
    return s && s == config->chain ? penstock__gpu_slot_out(config, s - 1, b, k) : b + k * config->share[s];
}

unsigned penstock__gpu_slot_out(const struct gpu_launch_config *config, unsigned s, unsigned b, unsigned k)
{
    return penstock__gpu_slot_in(config, s, b, penstock__gpu_radix_order(config->radix[s], k));
}

unsigned penstock__gpu_offset(const struct gpu_launch_config *config, unsigned s, unsigned b, unsigned k)
{
    return b * config->lanes + k * (config->n / config->radix[s]);
}

/*
 * Groups ahead whose rows are fetched: as many as there are multiprocessors, as long as that is not too much for the
 * cache. On an H200 that takes 1 to 3 % less time from 64 to 8192 points, and twice as many 30 % more at 8192;
 * convolutions gain nothing.
 */
static unsigned rows_ahead(const struct gpu_launch_config *config, unsigned units)
{
    enum { MOST_POINTS = 8192 }; /* for each multiprocessor */
    unsigned points = config->n * config->per_group;
    return points > MOST_POINTS ? units * MOST_POINTS / points : units;
}

/* With 16 points in registers, 1024 work-items of 64 registers. */
static void choose_resident(struct gpu_launch_config *config, const struct gpu_tuning *tuning,
                            const struct gpu_requirements *requirements, const struct gpu_limits *limits)
{
    unsigned groups = (config->slots > 16 ? 512 : 1024) / penstock__gpu_group_size(config);
    config->resident = tuning->resident ? tuning->resident : groups ? groups : 1;
    config->ahead = tuning->ahead == TUNING_NONE ? 0 : tuning->ahead;
    if (!tuning->ahead && !requirements->columns && !requirements->twice && !requirements->variant && !limits->cpu)
        config->ahead = rows_ahead(config, limits->units);
}

static int choose(struct gpu_launch_config *config, const struct gpu_requirements *requirements,
                  const struct gpu_limits *limits, const struct gpu_tuning *tuning)
{
    memset(config, 0, sizeof *config);
    if (requirements->variant >= GPU_VARIANTS)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no variant %u", requirements->variant);
    config->n = requirements->n;
    config->cpu = limits->cpu;
    config->columns = requirements->columns;
    config->per_group = 1;
    if (!penstock__gpu_launch_config_stages(config, requirements, tuning,
                                            requirements->columns ? limits->max_group / 4 : limits->max_group))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points do not fit a work-group of %u work-items",
                               config->n, limits->max_group);
    if (!requirements->columns)
        return penstock__gpu_launch_config_rows(config, requirements, limits, tuning);
    config->lows = 1;
    return penstock__gpu_launch_config_columns(config, requirements, limits, tuning);
}

/* Where registers are few: radices no larger than the points that a work-item should hold. */
static void want_few(struct gpu_requirements *requirements, struct gpu_tuning *tuning, const struct gpu_limits *limits)
{
    requirements->radix = limits->slots;
    *tuning = (struct gpu_tuning){.stages = 0};
}

int penstock__gpu_launch_config(struct gpu_launch_config *config, const struct gpu_requirements *requirements,
                                const struct gpu_limits *limits)
{
    struct gpu_tuning tuning = penstock__gpu_launch_config_tuning(requirements, limits);
    struct gpu_requirements wanted = *requirements;
    const bool free =
        !requirements->variant && !requirements->radix && !requirements->items && !penstock__gpu_wanted(limits, 0);
    const unsigned most = free ? limits->most_slots : limits->asked_slots;
    int status;
    if (free && limits->slots)
        want_few(&wanted, &tuning, limits);
    if ((status = choose(config, &wanted, limits, &tuning)))
        return status;
    if (most && config->slots > most)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points do not fit the registers of %u work-items",
                               config->n, config->lanes);
    choose_resident(config, &tuning, &wanted, limits);
    return PENSTOCK_OK;
}
