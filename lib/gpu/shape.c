/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Choice of radices, slots and local memory for a one-pass transform. */
#include "gpu/shape.h"

#include <string.h>

#define MIN_N 2
#define MAX_N 8192

#define CPU_LOWS 8 /* floats of an AVX register */

static unsigned log2_of(unsigned n)
{
    unsigned bits = 0;
    while (n >> (bits + 1))
        bits++;
    return bits;
}

static bool real_forward(const struct penstock_fft_problem *fft)
{
    return fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_FORWARD;
}

int penstock__gpu_check(const struct penstock_fft_problem *fft, const char *device)
{
    size_t least = fft->domain == PENSTOCK_REAL ? 2 * MIN_N : MIN_N;
    if (fft->n < least || fft->n > MAX_N || (fft->n & (fft->n - 1)))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s: length %zu is not a power of two from %zu to %d", device,
                               fft->n, least, MAX_N);
    return PENSTOCK_OK;
}

struct recipe {
    unsigned char slots, radix[4];
};

/*
 * Variant 0, by log2 n. A GPU: few stages, at most 16 points in registers, and enough work-items to read whole lines
 * of memory. A CPU: eight work-items make a vector, so the last radix and with it the other spans are multiples of 8.
 */
static const struct recipe gpu_recipes[] = {{0},
                                            {2, {2}},
                                            {4, {4}},
                                            {8, {8}},
                                            {4, {4, 4}},
                                            {8, {8, 4}},
                                            {8, {8, 8}},
                                            {16, {16, 8}},
                                            {16, {16, 16}},
                                            {8, {8, 8, 8}},
                                            {16, {16, 16, 4}},
                                            {16, {16, 16, 8}},
                                            {16, {16, 16, 16}},
                                            {16, {16, 16, 16, 2}}};
static const struct recipe cpu_recipes[] = {{0},
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
                                            {16, {16, 8, 8, 8}}};

static void choose_stages(struct gpu_shape *shape, const struct gpu_limits *limits, unsigned variant)
{
    static const unsigned char simple[] = {16, 4, 2};
    const struct recipe *recipe = &(limits->cpu ? cpu_recipes : gpu_recipes)[log2_of(shape->n)];
    unsigned left = shape->n;
    for (shape->stages = 0; left > 1; shape->stages++) {
        unsigned radix = variant ? simple[variant] : recipe->radix[shape->stages];
        if (radix > left)
            radix = left;
        left /= radix;
        shape->radix[shape->stages] = radix;
        shape->span[shape->stages] = left;
    }
    shape->slots = variant ? shape->radix[0] : recipe->slots;
    while (shape->n / shape->slots > limits->max_group)
        shape->slots *= 2;
    shape->lanes = shape->n / shape->slots;
    shape->lows = limits->cpu && shape->lanes % CPU_LOWS == 0 ? CPU_LOWS : shape->lanes;
}

static void choose_local(struct gpu_shape *shape, const struct gpu_limits *limits, bool unpack)
{
    size_t budget = limits->local_bytes / sizeof(float);
    shape->exchanges = shape->stages - 1 + unpack;
    shape->pad_shift = limits->cpu ? 0 : 5;
    shape->buffers = limits->cpu && shape->exchanges > 1 ? 2 : 1;
    shape->plane = shape->n + (shape->pad_shift ? shape->n >> shape->pad_shift : 0);
    if (shape->buffers * 2 * shape->plane > budget)
        shape->buffers = 1;
    shape->halves = 2 * shape->plane > budget && !unpack;
    if ((shape->halves ? 1 : 2) * shape->plane > budget) {
        shape->pad_shift = 0;
        shape->plane = shape->n;
    }
    shape->region = shape->exchanges ? (shape->halves ? 1 : 2 * shape->buffers) * shape->plane : 0;
}

static void choose_group(struct gpu_shape *shape, const struct gpu_limits *limits, unsigned variant)
{
    unsigned wanted = limits->cpu ? 32 : 128;
    shape->per_group = 1;
    if (variant > 0 && shape->lanes >= 8)
        return;
    while (2 * penstock__gpu_group_size(shape) <= wanted && 2 * penstock__gpu_group_size(shape) <= limits->max_group &&
           2 * penstock__gpu_local_bytes(shape) <= limits->local_bytes)
        shape->per_group *= 2;
}

int penstock__gpu_shape(struct gpu_shape *shape, const struct penstock_fft_problem *fft,
                        const struct gpu_limits *limits, unsigned variant)
{
    memset(shape, 0, sizeof *shape);
    if (variant >= GPU_VARIANTS)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no variant %u", variant);
    shape->n = (unsigned)(fft->domain == PENSTOCK_REAL ? fft->n / 2 : fft->n);
    shape->cpu = limits->cpu;
    shape->per_group = 1;
    choose_stages(shape, limits, variant);
    if (shape->slots > GPU_MAX_SLOTS)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points do not fit a work-group of %u work-items", shape->n,
                               limits->max_group);
    choose_local(shape, limits, real_forward(fft));
    if (penstock__gpu_local_bytes(shape) > limits->local_bytes)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points need %zu bytes of local memory, the device has %zu",
                               shape->n, penstock__gpu_local_bytes(shape), limits->local_bytes);
    choose_group(shape, limits, variant);
    return PENSTOCK_OK;
}
