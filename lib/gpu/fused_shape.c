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

static unsigned choose(struct fused_shape *shape, unsigned n, const struct fused_requirements *requirements)
{
    const struct choice *choice = choices;
    while (choice->n != n)
        choice++;
    *shape =
        (struct fused_shape){.n = n,
                             .slots = choice->slots,
                             .per_group = requirements->per_group ? requirements->per_group : choice->per_group,
                             .dense = requirements->dense ? requirements->dense : 1,
                             .two_buffers = (choice->two_buffers || requirements->two_buffers) && !requirements->halves,
                             .halves = requirements->halves};
    for (; shape->passes < 4 && choice->radix[shape->passes]; shape->passes++)
        shape->radix[shape->passes] = choice->radix[shape->passes];
    return requirements->computed ? 2 : choice->computed;
}

static void choose_simple(struct fused_shape *shape, unsigned n)
{
    *shape = (struct fused_shape){.n = n, .slots = n > 4096 ? 8 : 4, .dense = 1};
    shape->per_group = n / shape->slots < 64 ? 64 * shape->slots / n : 1;
    for (unsigned left = n; left > 1; left /= shape->radix[shape->passes++])
        shape->radix[shape->passes] = left % 4 ? 2 : 4;
}

/* "slots=16,group=4,dense=7,buffers=2,computed=1,radix=16x16x8"; computed=2: of all passes */
static void override(struct fused_shape *shape, unsigned *computed, const char *text)
{
    for (const char *at = text; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        unsigned value = 0;
        const char *number = strchr(at, '=');
        if (!number || sscanf(number + 1, "%u", &value) != 1)
            continue;
        if (!strncmp(at, "slots=", 6))
            shape->slots = value;
        else if (!strncmp(at, "group=", 6))
            shape->per_group = value;
        else if (!strncmp(at, "dense=", 6))
            shape->dense = value;
        else if (!strncmp(at, "buffers=", 8))
            shape->two_buffers = value == 2;
        else if (!strncmp(at, "ahead=", 6))
            shape->ahead = value;
        else if (!strncmp(at, "computed=", 9))
            *computed = value;
        else if (!strncmp(at, "radix=", 6))
            for (shape->passes = 0; shape->passes < FUSED_MAX_PASSES && value;) {
                shape->radix[shape->passes++] = value;
                number = strpbrk(number + 1, "x,");
                value = number && *number == 'x' ? (unsigned)atoi(number + 1) : 0;
            }
    }
}

static bool consistent(const struct fused_shape *shape)
{
    unsigned left = shape->n;
    bool good = shape->slots && shape->slots <= GPU_MAX_SLOTS && shape->per_group && shape->n % shape->slots == 0;
    for (unsigned s = 0; s < shape->passes && good; s++) {
        good = shape->radix[s] >= 2 && shape->slots % shape->radix[s] == 0 && left % shape->radix[s] == 0;
        left /= good ? shape->radix[s] : 1;
    }
    return good && left == 1;
}

static bool has_regions(const struct fused_shape *shape)
{
    bool same = shape->passes == 3 && shape->slots == 16 && !shape->two_buffers && !shape->halves;
    for (unsigned s = 0; s < shape->passes && same; s++)
        same = shape->radix[s] == shape->slots;
    return same;
}

static void lay_out(struct fused_shape *shape, unsigned computed)
{
    unsigned before = 1, table = 0, largest[2] = {0, 0};
    shape->lanes = shape->n / shape->slots;
    for (unsigned s = 0; s < shape->passes; before *= shape->radix[s++]) {
        unsigned whole = before * shape->radix[s], part = shape->two_buffers ? s % 2 : 0;
        shape->before[s] = before;
        shape->table_at[s] = table;
        shape->computed[s] = s && shape->radix[s] >= 8 && (computed > 1 || (computed && whole > LONG_TABLE));
        table += s ? before * (penstock__fused_rows(shape->radix[s]) + 1) : 0;
        shape->every[s] = shape->lanes == 8 && whole <= 8 ? 8 : whole > 16 ? whole : 16; /* no gap within a block */
        shape->gap[s] = s == 0 ? 2 : before < 16 ? before : 0;
        if (shape->halves) {
            shape->every[s] = whole > 32 ? whole : 32;
            shape->gap[s] = before < 32 ? before : 0;
        }
        unsigned points = shape->n + (shape->n / shape->every[s] + 1) * shape->gap[s];
        if (s + 1 < shape->passes && points > largest[part])
            largest[part] = points;
    }
    for (unsigned part = 0; part < 2; part++)
        largest[part] = largest[part] ? (largest[part] + 15) / 16 * 16 + (shape->lanes < 16 ? 8 : 0) : 0;
    if (shape->regions) {
        largest[0] = shape->slots * (shape->lanes + 2 * shape->slots);
        shape->swapped_at = table;
    }
    shape->odd_at = largest[0];
    shape->region = shape->halves ? (largest[0] / 2 + 15) / 16 * 16 : largest[0] + largest[1];
}

static bool fits(const struct fused_shape *shape, const struct gpu_limits *limits, size_t extra)
{
    size_t bytes = shape->per_group * (8 * (size_t)shape->region + extra);
    return shape->lanes * shape->per_group <= limits->max_group && bytes <= limits->local_bytes;
}

int penstock__fused_shape(struct fused_shape *shape, size_t n, const struct gpu_limits *limits, unsigned variant,
                          const struct fused_requirements *requirements)
{
    unsigned computed = 0;
    if (variant > 1)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no simpler kernel");
    if (n < FUSED_LEAST || n > (requirements->plain ? FUSED_PLAIN : FUSED_MOST) || (n & (n - 1)))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "one kernel does powers of two from %d to %d, not %zu",
                               FUSED_LEAST, FUSED_MOST, n);
    if (variant)
        choose_simple(shape, (unsigned)n);
    else {
        computed = choose(shape, (unsigned)n, requirements);
        override(shape, &computed, limits->shape ? limits->shape : getenv("PENSTOCK_FUSED_SHAPE"));
    }
    if (!consistent(shape))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "a transform of %zu points cannot be cut up like that", n);
    shape->cpu = limits->cpu;
    shape->regions = requirements->regions && has_regions(shape);
    for (;; shape->per_group /= 2) {
        lay_out(shape, computed);
        if (fits(shape, limits, requirements->extra))
            return PENSTOCK_OK;
        if (shape->per_group == 1)
            return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                                   "one kernel for %zu points needs %zu bytes of local memory and %u work-items", n,
                                   8 * (size_t)shape->region + requirements->extra, shape->lanes);
    }
}
