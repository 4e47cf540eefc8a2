/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How a transform is cut up for a device: stages, points held in registers, work-items, local memory. */
#ifndef PENSTOCK_GPU_SHAPE_H
#define PENSTOCK_GPU_SHAPE_H

#include "backends/backend.h"

#define GPU_MAX_STAGES 13 /* 8192 in stages of radix 2 */
#define GPU_MAX_SLOTS  32
#define GPU_VARIANTS   3

struct gpu_limits {
    size_t local_bytes; /* of local memory that a work-group may use */
    unsigned max_group; /* work-items in a work-group */
    bool cpu;           /* work-items are iterations of a loop on a CPU: local memory is plain memory without banks */
};

struct gpu_shape {
    unsigned n;         /* points of the complex transform: half the length of a real one */
    unsigned slots;     /* points that a work-item holds */
    unsigned lanes;     /* work-items of a transform: n / slots */
    unsigned lows;      /* work-items along a work-group's first dimension; divides lanes */
    unsigned per_group; /* transforms of a work-group */
    unsigned stages;
    unsigned radix[GPU_MAX_STAGES];
    unsigned span[GPU_MAX_STAGES]; /* radix[s] * span[s] = span[s - 1], the first n, the last 1 */
    bool halves;                   /* exchange real parts, then imaginary ones, through half the memory */
    unsigned pad_shift;            /* a gap after each 2^pad_shift values in local memory; 0: none */
    unsigned plane;                /* floats of n values in local memory, gaps included */
    unsigned buffers;              /* 2: exchanges alternate between two buffers, which saves a barrier each */
    unsigned exchanges;            /* times that points change hands */
    bool cpu;
    unsigned region; /* floats of local memory for one transform */
};

/* PENSTOCK_ERR_UNSUPPORTED, with text that names what is possible, for what one pass cannot do. */
int penstock__gpu_check(const struct penstock_fft_problem *fft, const char *device);

/*
 * Variant 0 is made for speed; 1 has radices up to 4, and one transform a work-group where lanes are many; 2 has
 * radix 2. PENSTOCK_ERR_UNSUPPORTED for a variant that does not exist or does not fit the limits.
 */
int penstock__gpu_shape(struct gpu_shape *shape, const struct penstock_fft_problem *fft,
                        const struct gpu_limits *limits, unsigned variant);

static inline unsigned penstock__gpu_group_size(const struct gpu_shape *shape)
{
    return shape->lanes * shape->per_group;
}

/* A work-group's first dimension; the second is the rest of its size. */
static inline unsigned penstock__gpu_group_x(const struct gpu_shape *shape)
{
    return shape->lanes > 1 ? shape->lows : shape->per_group;
}

static inline size_t penstock__gpu_local_bytes(const struct gpu_shape *shape)
{
    return (size_t)shape->region * shape->per_group * sizeof(float);
}

#endif
