/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How a transform on a chip is cut up for a device: stages, points held in registers, work-items, local memory. */
#ifndef PENSTOCK_GPU_LAUNCH_CONFIG_H
#define PENSTOCK_GPU_LAUNCH_CONFIG_H

#include "backends/backend.h"
#include "gpu/radix.h"

#define GPU_MAX_SLOTS 32
#define GPU_VARIANTS  3
#define GPU_SWIZZLE   16 /* points that the banks of local memory hold side by side */

struct gpu_limits {
    size_t local_bytes;   /* of local memory that a work-group may use */
    unsigned max_group;   /* work-items in a work-group */
    unsigned wave;        /* work-items that run in step; 0: 32 */
    unsigned slots;       /* points that a work-item should hold, where registers are few; 0: what was measured */
    unsigned most_slots;  /* that it may hold; 0: GPU_MAX_SLOTS */
    unsigned asked_slots; /* that it may where options, a variant or tuning want so; 0: GPU_MAX_SLOTS */
    unsigned registers;   /* that it may have; 0: what was measured */
    unsigned item_bytes;  /* of local memory, so that as many waves find room as should; 0: what was measured */
    unsigned units;       /* multiprocessors, each of which has as much local memory; 0: not known */
    bool bounded;         /* its compiler keeps a kernel's registers to what so many groups at once leave it */
    bool cpu;             /* work-items are iterations of a loop on a CPU: local memory is plain memory without banks */
    bool half_arithmetic; /* it computes in numbers of 16 bits */
    bool ptx_halves;      /* its OpenCL takes PTX's instructions for two of them at once */
    bool single_only;     /* it does not in those of 64 */
    unsigned texel;       /* points in a texel of an image of floats that is made of a buffer; 0: there are none */
    const char *config;   /* that a plan is tuned to: text for gpu/tuning_parameters.h; NULL: the library's choice */
};

/* Work-items of a group that may have any number of them: `most`, or as many as there can be. */
static inline unsigned penstock__gpu_group(const struct gpu_limits *limits, unsigned most)
{
    return most < limits->max_group ? most : limits->max_group;
}

/* The tuning parameters of such a plan or, on GPUs, of PENSTOCK_GPU_SHAPE in the environment; NULL where there are
 * none. */
const char *penstock__gpu_wanted(const struct gpu_limits *limits, unsigned variant);

/* What is to be computed on the chip. */
struct gpu_requirements {
    unsigned n;       /* points, a product of radices */
    unsigned variant; /* 0: for speed; 1: radices up to 4; 2: radix 2; primes besides where n has them */
    bool columns;     /* neighbouring transforms have their points side by side in memory */
    bool twice;       /* forward, a product with a spectrum, and back */
    bool unpack;      /* real samples, two to a point: one exchange more */
    bool whole;       /* floats in and out, nothing done to them: memory is all that it waits for */
    bool turned;      /* columns leave as rows: one exchange more, where there is memory for it */
    unsigned radix;   /* the largest power of two among the radices; 0: the choice is free */
    unsigned items;   /* work-items of a transform; 0: likewise */
    unsigned group;   /* transforms of a work-group; 0: likewise */
};

struct gpu_launch_config {
    unsigned n;         /* points of the complex transform */
    unsigned slots;     /* points that a work-item holds at most */
    unsigned lanes;     /* work-items of a transform */
    unsigned lows;      /* work-items along a work-group's first dimension; divides lanes */
    unsigned per_group; /* transforms of a work-group */
    unsigned stages;
    unsigned chain; /* stages of the first chain; the others, its mirror image, are the way back */
    unsigned radix[GPU_MAX_STAGES];
    unsigned span[GPU_MAX_STAGES];  /* radix[s] * span[s] = span[s - 1], the first n, the last 1, in each chain */
    unsigned share[GPU_MAX_STAGES]; /* butterflies of a work-item; the last of them only where lane < its limit */
    bool columns;
    bool turned;                    /* columns leave through local memory, as rows */
    bool joined;                    /* a point's two parts lie side by side in local memory */
    bool halves;                    /* exchange real parts, then imaginary ones, through half the memory */
    unsigned gap[GPU_MAX_STAGES];   /* points left free in local memory, in the exchange before stage s, ... */
    unsigned every[GPU_MAX_STAGES]; /* ... after each so many points, so that they spread over the banks; at least 1 */
    bool swizzled;                  /* nothing is left free: points of the same GPU_SWIZZLE change places instead */
    unsigned plane;                 /* floats of n values in local memory, gaps included */
    unsigned buffers;               /* 2: exchanges alternate between two buffers, which saves a barrier each */
    unsigned exchanges;             /* times that points change hands */
    bool cpu;
    unsigned region;   /* floats of local memory for one transform */
    unsigned resident; /* groups that a multiprocessor should hold at once */
    unsigned ahead;    /* groups ahead whose samples are fetched into the cache; 0: none */
};

/* PENSTOCK_ERR_UNSUPPORTED for a variant that does not exist or a transform that does not fit the limits. */
int penstock__gpu_launch_config(struct gpu_launch_config *config, const struct gpu_requirements *requirements,
                                const struct gpu_limits *limits);

/* What it costs to compute, to compare configurations by. */
double penstock__gpu_launch_config_cost(const struct gpu_launch_config *config);

/*
 * Butterfly b of a work-item in stage s: its number is lane + b lanes, it exists for lane < limit. Its input k lies in
 * slot slot_in. Its value k lies in slot slot_out then and is point lane + offset of the stage's result.
 */
unsigned penstock__gpu_limit(const struct gpu_launch_config *config, unsigned s, unsigned b);
unsigned penstock__gpu_slot_in(const struct gpu_launch_config *config, unsigned s, unsigned b, unsigned k);
unsigned penstock__gpu_slot_out(const struct gpu_launch_config *config, unsigned s, unsigned b, unsigned k);
unsigned penstock__gpu_offset(const struct gpu_launch_config *config, unsigned s, unsigned b, unsigned k);

/* Where a point lies in local memory that gaps before it move, or exchange with others where points are swizzled. */
static inline unsigned penstock__gpu_moved(unsigned point, unsigned gaps, bool swizzled)
{
    return swizzled ? point ^ gaps % GPU_SWIZZLE : point + gaps;
}

/* Where a point of the exchange before stage s does. */
static inline unsigned penstock__gpu_place(const struct gpu_launch_config *config, unsigned s, unsigned point)
{
    return penstock__gpu_moved(point, point / config->every[s] * config->gap[s], config->swizzled);
}

static inline unsigned penstock__gpu_group_size(const struct gpu_launch_config *config)
{
    return config->lanes * config->per_group;
}

/* A work-group's first dimension; the second is the rest of its size. */
static inline unsigned penstock__gpu_group_x(const struct gpu_launch_config *config)
{
    return config->columns || config->lanes == 1 ? config->per_group : config->lows;
}

static inline size_t penstock__gpu_local_bytes(const struct gpu_launch_config *config)
{
    return (size_t)config->region * config->per_group * sizeof(float);
}

#endif
