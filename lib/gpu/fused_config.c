/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How a transform that is part of a larger kernel is cut up. The choices of variant 0 were measured on an H200. */
#include "gpu/fused_pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct choice {
    unsigned n, slots, per_group;
    bool two_buffers, computed; /* computed: factors of passes whose table would be long */
    unsigned radix[4];
};

static const struct choice choices[] = {
    {16, 16, 128, false, false, {16}},         {32, 8, 32, true, false, {8, 4}},
    {64, 8, 16, false, false, {8, 8}},         {128, 8, 8, false, false, {8, 4, 4}},
    {256, 16, 8, true, false, {16, 16}},       {512, 32, 2, false, true, {32, 16}},
    {1024, 32, 2, true, true, {32, 32}},       {2048, 16, 1, false, true, {16, 16, 8}},
    {4096, 16, 1, false, true, {16, 16, 16}},  {8192, 32, 1, false, true, {32, 16, 16}},
    {16384, 32, 1, false, true, {32, 32, 16}},
};

#define LONG_TABLE 256 /* points of a pass and those before, from which on factors are computed */

static unsigned choose(struct fused_config *config, unsigned n, const struct fused_requirements *requirements)
{
    const struct choice *choice = choices;
    while (choice->n != n)
        choice++;
    *config = (struct fused_config){.n = n,
                                    .slots = choice->slots,
                                    .per_group = requirements->per_group ? requirements->per_group : choice->per_group,
                                    .dense = requirements->dense ? requirements->dense : 1,
                                    .two_buffers =
                                        (choice->two_buffers || requirements->two_buffers) && !requirements->halves,
                                    .halves = requirements->halves};
    for (; config->passes < 4 && choice->radix[config->passes]; config->passes++)
        config->radix[config->passes] = choice->radix[config->passes];
    return requirements->computed ? 2 : choice->computed;
}

/* Where registers are few, which is on all but NVIDIA's: by clang 32 points of a filter leave one wave of ten on GCN,
 * eight leave four; of a spectrum 32 do not fit. */
static bool choose_few(struct fused_config *config, unsigned n, const struct gpu_limits *limits)
{
    enum { POINTS = 8, LEAST_GROUP = 64, MOST = 4096 };
    if (!limits->most_slots || n > MOST || n / POINTS > limits->max_group)
        return false;
    *config = (struct fused_config){.n = n, .slots = POINTS, .dense = 1};
    config->per_group = n / POINTS < LEAST_GROUP ? LEAST_GROUP * POINTS / n : 1;
    for (unsigned left = n; left > 1; left /= config->radix[config->passes++])
        config->radix[config->passes] = left % POINTS ? left : POINTS;
    return true;
}

static void choose_simple(struct fused_config *config, unsigned n)
{
    *config = (struct fused_config){.n = n, .slots = n > 4096 ? 8 : 4, .dense = 1};
    config->per_group = n / config->slots < 64 ? 64 * config->slots / n : 1;
    for (unsigned left = n; left > 1; left /= config->radix[config->passes++])
        config->radix[config->passes] = left % 4 ? 2 : 4;
}

/* "slots=16,group=4,dense=7,buffers=2,computed=1,radix=16x16x8"; computed=2: of all passes */
static void override(struct fused_config *config, unsigned *computed, const char *text)
{
    for (const char *at = text; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        unsigned value = 0;
        const char *number = strchr(at, '=');
        if (!number || sscanf(number + 1, "%u", &value) != 1)
            continue;
        if (!strncmp(at, "slots=", 6))
            config->slots = value;
        else if (!strncmp(at, "group=", 6))
            config->per_group = value;
        else if (!strncmp(at, "dense=", 6))
            config->dense = value;
        else if (!strncmp(at, "buffers=", 8))
            config->two_buffers = value == 2;
        else if (!strncmp(at, "ahead=", 6))
            config->ahead = value;
        else if (!strncmp(at, "computed=", 9))
            *computed = value;
        else if (!strncmp(at, "radix=", 6))
            for (config->passes = 0; config->passes < FUSED_MAX_PASSES && value;) {
                config->radix[config->passes++] = value;
                number = strpbrk(number + 1, "x,");
                value = number && *number == 'x' ? (unsigned)atoi(number + 1) : 0;
            }
    }
}

static bool consistent(const struct fused_config *config)
{
    unsigned left = config->n;
    bool good = config->slots && config->slots <= GPU_MAX_SLOTS && config->per_group && config->n % config->slots == 0;
    for (unsigned s = 0; s < config->passes && good; s++) {
        good = config->radix[s] >= 2 && config->slots % config->radix[s] == 0 && left % config->radix[s] == 0;
        left /= good ? config->radix[s] : 1;
    }
    return good && left == 1;
}

static bool has_regions(const struct fused_config *config)
{
    bool same = config->passes == 3 && config->slots == 16 && !config->two_buffers && !config->halves;
    for (unsigned s = 0; s < config->passes && same; s++)
        same = config->radix[s] == config->slots;
    return same;
}

static void lay_out(struct fused_config *config, unsigned computed)
{
    unsigned before = 1, table = 0, largest[2] = {0, 0};
    config->lanes = config->n / config->slots;
    for (unsigned s = 0; s < config->passes; before *= config->radix[s++]) {
        unsigned whole = before * config->radix[s], part = config->two_buffers ? s % 2 : 0;
        config->before[s] = before;
        config->table_at[s] = table;
        config->computed[s] = s && config->radix[s] >= 8 && (computed > 1 || (computed && whole > LONG_TABLE));
        table += s ? before * (penstock__fused_rows(config->radix[s]) + 1) : 0;
        config->every[s] = config->lanes == 8 && whole <= 8 ? 8 : whole > 16 ? whole : 16; /* no gap within a block */
        config->gap[s] = s == 0 ? 2 : before < 16 ? before : 0;
        if (config->halves) {
            config->every[s] = whole > 32 ? whole : 32;
            config->gap[s] = before < 32 ? before : 0;
        }
        unsigned points = config->n + (config->n / config->every[s] + 1) * config->gap[s];
        if (s + 1 < config->passes && points > largest[part])
            largest[part] = points;
    }
    for (unsigned part = 0; part < 2; part++)
        largest[part] = largest[part] ? (largest[part] + 15) / 16 * 16 + (config->lanes < 16 ? 8 : 0) : 0;
    if (config->regions) {
        largest[0] = config->slots * (config->lanes + 2 * config->slots);
        config->swapped_at = table;
    }
    config->odd_at = largest[0];
    config->region = config->halves ? (largest[0] / 2 + 15) / 16 * 16 : largest[0] + largest[1];
}

/*
 * Where gaps leave local memory for fewer waves than there should be, points change places by exclusive or with what
 * the gaps would be. Only where what a work-item takes lies at even distances still: gaps between would have been of
 * whole GPU_SWIZZLE.
 */
static void choose_swizzle(struct fused_config *config, const struct gpu_limits *limits)
{
    bool even = config->lanes % GPU_SWIZZLE == 0 && !config->regions && !config->halves && !config->two_buffers;
    for (unsigned s = 0; s + 1 < config->passes && even; s++)
        even = !config->gap[s] || (config->lanes % config->every[s] == 0 &&
                                   config->lanes / config->every[s] * config->gap[s] % GPU_SWIZZLE == 0);
    if (!even || !limits->item_bytes || 8 * (size_t)config->region <= (size_t)limits->item_bytes * config->lanes)
        return;
    config->swizzled = true;
    config->region = config->odd_at = config->n;
}

static bool fits(const struct fused_config *config, const struct gpu_limits *limits, size_t extra)
{
    size_t bytes = config->per_group * (8 * (size_t)config->region + extra);
    return config->lanes * config->per_group <= limits->max_group && bytes <= limits->local_bytes;
}

int penstock__fused_config(struct fused_config *config, size_t n, const struct gpu_limits *limits, unsigned variant,
                           const struct fused_requirements *requirements)
{
    unsigned computed = 0;
    if (variant > 1)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no simpler kernel");
    if (n < FUSED_LEAST || n > (requirements->plain ? FUSED_PLAIN : FUSED_MOST) || (n & (n - 1)))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "one kernel does powers of two from %d to %d, not %zu",
                               FUSED_LEAST, FUSED_MOST, n);
    if (variant)
        choose_simple(config, (unsigned)n);
    else {
        if (!requirements->plain && choose_few(config, (unsigned)n, limits))
            computed = 1;
        else
            computed = choose(config, (unsigned)n, requirements);
        override(config, &computed, limits->config ? limits->config : getenv("PENSTOCK_FUSED_SHAPE"));
    }
    if (!consistent(config))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "a transform of %zu points cannot be cut up like that", n);
    config->cpu = limits->cpu;
    config->regions = requirements->regions && has_regions(config);
    for (;; config->per_group /= 2) {
        lay_out(config, computed);
        if (fits(config, limits, requirements->extra)) {
            if (requirements->plain)
                choose_swizzle(config, limits);
            return PENSTOCK_OK;
        }
        if (config->per_group == 1)
            return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                                   "one kernel for %zu points needs %zu bytes of local memory and %u work-items", n,
                                   8 * (size_t)config->region + requirements->extra, config->lanes);
    }
}
