/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The transform length by a model of what a block costs. Costs for a sample are flat around their least: two lengths
 * next to it differ by a few per cent, so that one curve for all processors, and one for all GPUs, does what timing did
 * and takes no time. The curves are medians of one thread's own time on an EPYC with AVX-512, and of the device's clock
 * on an H200; only their shape counts.
 */
#include "ops/filter/filter_run.h"

#include <math.h>
#include <string.h>

#define SHORTEST         256
#define LONGEST          ((size_t)1 << 23)
#define LONGEST_COMPARED ((size_t)1 << 20)
#define CANDIDATES       5

/* A shorter length may cost so much more: values come sooner. More so where several stages share the caches. */
#define SLACK        1.02
#define SLACK_STAGES 1.05

/* Threads that do long blocks at once crowd each other out of the caches, which the cost for one does not show: of the
 * rates with 4097 taps, two threads have 1.9, 1.4, 1.2 and 0.9 times those of one with 8192, 16384, 32768 and 65536. */
#define LONG_POINTS 8192
#define SLACK_LONG  1.15

/* Of lengths that one kernel does. */
#define LONGEST_FUSED       8192
#define SHORTEST_PARTITIONS 4096 /* for partitioned taps */

/* ---------------------------------------------------------------- a processor ----------------- */

/* Nanoseconds of a point through both transforms, with 2^8, 2^9, ... points. */
static const double point_ns[] = {0.667, 0.664, 0.67, 0.73, 0.78, 0.79, 0.835, 0.937, 1.06, 1.18, 1.24, 1.55, 1.92};

#define SHORTEST_LOG2 8
#define PRODUCT_NS    0.2   /* a bin: times the taps' spectrum, and folded */
#define VALUE_NS      0.14  /* a value: picked and turned back */
#define CHANNEL_NS    80.0  /* calls and tables of a channel's block */
#define REAL_SHARE    1.7   /* real transforms and their product, of what complex ones cost */
#define REAL_NS       100.0 /* calls of a block of them */

static double transforms_ns(size_t n)
{
    size_t last = sizeof point_ns / sizeof *point_ns - 1;
    double place = log2((double)n) - SHORTEST_LOG2;
    size_t at = place <= 0 ? 0 : (size_t)(place + 0.5);
    return (double)n * point_ns[at < last ? at : last];
}

/* A pair of transforms with the product between them, and all values kept in order. */
static bool is_pair(const struct filter_shape *shape, size_t channels)
{
    return !shape->real && shape->fold == 1 && shape->interpolation == 1 && channels == 1;
}

/* Of a block of all channels. */
static double block_ns(const struct filter_shape *shape, size_t channels)
{
    double each =
        PRODUCT_NS * (double)shape->high + transforms_ns(shape->m) / 2 + VALUE_NS * (double)shape->values + CHANNEL_NS;
    if (is_pair(shape, channels))
        return transforms_ns(shape->n);
    if (shape->real && shape->fold == 1 && shape->interpolation == 1 && channels == 1)
        return REAL_SHARE * transforms_ns(shape->n) + REAL_NS;
    return transforms_ns(shape->n) / 2 + (double)channels * each;
}

/* ---------------------------------------------------------------- a GPU ----------------------- */

/* What a point costs with 2^8, 2^9, ... points in one kernel, over the least: up to 1024 the memory is what limits. */
static const double fused_points[] = {1.05, 1, 1, 1.06, 1.11, 1.45};

/* Each frame that the taps reach is transformed anew for a block, and with interpolation each place between two samples
 * has a transform back. */
static double fused_cost(const struct filter_shape *shape)
{
    return (double)shape->n * fused_points[(size_t)(log2((double)shape->n) + 0.5) - SHORTEST_LOG2] *
           (double)(shape->partitions + shape->interpolation) / 2;
}

/* ---------------------------------------------------------------- the least ------------------- */

struct choice {
    struct filter_shape shape;
    double cost; /* of a sample; 0: nothing yet */
};

/* The first shape that there is may take any time for its blocks. */
static void consider(struct choice *best, const struct filter_shape *candidate, double block_cost, double slack)
{
    double cost = block_cost / (double)candidate->block;
    bool late = candidate->max_latency && candidate->frame - candidate->history > candidate->max_latency + 1;
    if (best->cost > 0 && (late || best->cost <= cost * slack))
        return;
    best->shape = *candidate;
    best->cost = cost;
}

static size_t first_length(const struct filter_shape *shape, size_t times_taps)
{
    size_t n = 1, up = shape->interpolation, taps = (shape->taps + up - 1) / up;
    while (n * up < SHORTEST || n < times_taps * taps || n < taps + 2 * shape->decimation)
        n *= 2;
    return n <= LONGEST / up ? n : LONGEST / up;
}

static void choose_blocks(struct choice *best, const struct filter_shape *shape, size_t channels, bool crowded)
{
    struct filter_shape candidate = *shape;
    size_t n = first_length(shape, 2);
    for (int i = 0; i < CANDIDATES && n <= LONGEST_COMPARED; i++, n *= 2) {
        double slack = crowded && n > LONG_POINTS ? SLACK_LONG : SLACK;
        if (!penstock__filter_shape_set(&candidate, n))
            continue;
        if (!candidate.real && !is_pair(&candidate, channels) && slack < SLACK_STAGES)
            slack = SLACK_STAGES;
        consider(best, &candidate, block_ns(&candidate, channels), slack);
    }
}

static void choose_fused(struct choice *best, const struct filter_shape *shape)
{
    struct filter_shape candidate = *shape;
    const size_t taps = (shape->taps + shape->interpolation - 1) / shape->interpolation; /* that meet a sample */
    for (size_t n = SHORTEST; n <= LONGEST_FUSED; n *= 2) {
        if (taps <= n - n / 4 && penstock__filter_shape_set(&candidate, n))
            consider(best, &candidate, fused_cost(&candidate), SLACK);
        if (n >= SHORTEST_PARTITIONS && penstock__filter_shape_partition(&candidate, n))
            consider(best, &candidate, fused_cost(&candidate), SLACK);
    }
}

void penstock__filter_length(struct filter_shape *shape, const struct penstock_device *device, size_t channels)
{
    struct choice best = {.cost = 0};
    bool crowded = !strcmp(device->name, "cpu") && penstock__threads(device->context) > 1;
    if (device->backend->copy && penstock__filter_fused_possible(device, shape))
        choose_fused(&best, shape);
    if (best.cost == 0)
        choose_blocks(&best, shape, channels, crowded);
    if (best.cost > 0)
        *shape = best.shape;
    else
        penstock__filter_shape_set(shape, first_length(shape, 4));
}
