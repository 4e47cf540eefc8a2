/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Shapes of transforms that were measured: powers of two, and what the least cost does not find. */
#include "gpu/launch_config_choice.h"

#include <stdlib.h>

/*
 * Powers of two, by log2 n. A GPU: few stages, at most 16 points in registers, and enough work-items to read whole
 * lines of memory; measured on an H200. A CPU: eight work-items make a vector, so the last radix and with it the other
 * spans are multiples of 8.
 */
static const struct gpu_preset gpu_presets[] = {{0},
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
static const struct gpu_preset cpu_presets[] = {{0},
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

const struct gpu_preset *penstock__gpu_preset(unsigned n, bool cpu)
{
    unsigned bits = 0;
    while (n >> (bits + 1))
        bits++;
    if (n & (n - 1) || bits >= sizeof gpu_presets / sizeof gpu_presets[0])
        return NULL;
    return &(cpu ? cpu_presets : gpu_presets)[bits];
}

/*
 * Rows and columns for which the least cost was not the least time on an H200. Points of a column lie far apart, so
 * that whole lines of memory count more than groups of usual size, and what the next groups need is fetched ahead.
 * 128 points with four in a work-item are the best for memory, and the worst where anything else is to be computed.
 */
static const struct measured {
    unsigned n;
    bool columns, whole;
    unsigned half_waves; /* groups ahead, for each two multiprocessors */
    struct gpu_tuning tuning;
} measured[] = {
    {128, false, true, 0, {.radix = {4, 4, 4, 2}, .stages = 4, .lanes = 32}},
    {1200, false, false, 0, {.radix = {15, 10, 8}, .stages = 3, .lanes = 80, .per_group = 2}},
    {1280, false, false, 0, {.radix = {10, 8, 16}, .stages = 3, .lanes = 80, .per_group = 2}},
    {9216, false, false, 2, {.radix = {12, 8, 8, 12}, .stages = 4, .lanes = 384, .resident = 2}},
    {144, true, false, 0, {.radix = {12, 12}, .stages = 2, .lanes = 12, .per_group = 16, .resident = 6}},
    {256, true, false, 4, {.radix = {16, 16}, .stages = 2, .lanes = 16, .per_group = 16}},
    {512, true, false, 0, {.radix = {16, 8, 4}, .stages = 3, .lanes = 32, .per_group = 16}},
    {1024, true, false, 1, {.radix = {16, 8, 8}, .stages = 3, .lanes = 64, .per_group = 16}},
    {2048, true, false, 1, {.radix = {16, 8, 16}, .stages = 3, .lanes = 128, .per_group = 8}},
};

const char *penstock__gpu_wanted(const struct gpu_limits *limits, unsigned variant)
{
    if (variant)
        return NULL;
    return limits->config ? limits->config : limits->cpu ? NULL : getenv("PENSTOCK_GPU_SHAPE");
}

struct gpu_tuning penstock__gpu_launch_config_tuning(const struct gpu_requirements *requirements,
                                                     const struct gpu_limits *limits)
{
    struct gpu_tuning tuning = {.stages = 0};
    if (requirements->variant || requirements->radix || requirements->items || requirements->group)
        return tuning;
    penstock__gpu_tuning_parameters(&tuning, requirements->n, penstock__gpu_wanted(limits, requirements->variant));
    if (limits->cpu)
        return tuning;
    for (const struct measured *m = measured; m < measured + sizeof measured / sizeof *measured && !tuning.stages; m++)
        if (m->n == requirements->n && m->columns == requirements->columns && (requirements->whole || !m->whole) &&
            m->tuning.lanes <= limits->max_group / (m->columns ? 4 : 1)) {
            tuning = m->tuning;
            tuning.ahead = m->half_waves * limits->units / 2;
        }
    return tuning;
}
