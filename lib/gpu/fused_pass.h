/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Transforms of powers of two as parts of larger kernels: how they are cut up, their tables, their source. The words
 * of the source are those of kernels/fused.h, which says how the transform works. */
#ifndef PENSTOCK_GPU_FUSED_PASS_H
#define PENSTOCK_GPU_FUSED_PASS_H

#include "gpu/launch_config.h"
#include "gpu/text.h"

#define FUSED_MAX_PASSES 13

struct fused_config {
    unsigned n;
    unsigned slots;     /* points that a work-item holds: 1 to 32 */
    unsigned lanes;     /* n / slots */
    unsigned per_group; /* transforms of a work-group */
    unsigned dense;     /* work-groups that shall fit on a multiprocessor; at least 1 */
    unsigned passes;
    unsigned radix[FUSED_MAX_PASSES];
    unsigned before[FUSED_MAX_PASSES];   /* product of the radices before */
    unsigned table_at[FUSED_MAX_PASSES]; /* a pass's factors in the table, in float4; of the first: none */
    bool computed[FUSED_MAX_PASSES];     /* most factors are products of two that are read */
    unsigned gap[FUSED_MAX_PASSES];      /* points left free in the exchange after a pass, ... */
    unsigned every[FUSED_MAX_PASSES];    /* ... after each so many, so that strided accesses spread over the banks */
    bool swizzled;       /* nothing is left free: points of the same GPU_SWIZZLE change places instead */
    bool two_buffers;    /* exchanges alternate between two parts of local memory: a barrier less each */
    unsigned odd_at;     /* where the second part is, in points */
    unsigned region;     /* points of local memory for one transform, even */
    bool halves;         /* exchanges of real parts, then of imaginary ones, through half the memory */
    bool regions;        /* see penstock__fused_swapped() */
    unsigned swapped_at; /* with regions: the last pass's factors once more, in the order of swapped work-items */
    unsigned ahead;      /* groups ahead whose samples are fetched into the cache; 0: none */
    bool cpu;
};

/* The smallest and the largest length. */
#define FUSED_LEAST 16
#define FUSED_MOST  8192
#define FUSED_PLAIN 16384

/* What a kernel needs besides its transforms, and what was found best for it; 0: as for other kernels. */
struct fused_requirements {
    size_t extra; /* bytes of local memory for each transform */
    unsigned dense, per_group;
    bool two_buffers, halves;
    bool computed; /* factors of all passes, not only those of long tables */
    bool regions;  /* where the transform is cut up as they want it */
    bool plain;    /* nothing but a transform, of up to FUSED_PLAIN points */
};

/*
 * Variant 0 is made for speed on GPUs, variant 1 has radix 4. PENSTOCK_ERR_UNSUPPORTED for one that does not exist or
 * does not fit, with text. PENSTOCK_FUSED_SHAPE in the environment
 * ("slots=16,group=4,dense=7,buffers=2,computed=1,radix=16x16x8") changes variant 0, for measurements.
 */
int penstock__fused_config(struct fused_config *config, size_t n, const struct gpu_limits *limits, unsigned variant,
                           const struct fused_requirements *requirements);

/* float4 of a pass for one j: half its radix of factors in pairs; one more holds what computed ones come from. */
static inline unsigned penstock__fused_rows(unsigned radix)
{
    return radix <= 4 ? 1 : radix / 4;
}

/*
 * A forward transform and a reverse one of R x R x R points, R a work-item, by way of R regions of local memory, one
 * for each R neighbours: in one of the two exchanges each way points stay within a region, so that only those
 * neighbours need wait for each other. Between the two, work-item i holds points swapped(i) + s LANES.
 *
 * With digits to base R, top first: work-item (b, c) holds samples (., b, c) before; the first exchange, across
 * regions, leaves work-item (x, c) with all b of the first digit x of the spectrum; the second one, within, work-item
 * (x, y) with all c; so that it ends with points (., y, x). The reverse transform goes the same way back.
 */
static inline unsigned penstock__fused_swapped(const struct fused_config *config, unsigned i)
{
    unsigned r = config->slots;
    return config->regions ? i / (r * r) * (r * r) + i % r * r + i / r % r : i;
}

/* Floats of the table; and the table, with zeros for `more` floats behind it, to be freed with penstock__free(). */
size_t penstock__fused_table_floats(const struct fused_config *config);
int penstock__fused_table(float **values, size_t *count, const struct fused_config *config, size_t more);

/* Appends the constants (N, SLOTS, LANES, PER_GROUP, GROUP, DENSE, REGION, CPU, EACH_SLOT) ... */
void penstock__fused_constants(struct gpu_text *text, const struct fused_config *config);

/*
 * ... and `name`, the transform of one direction, which reads v0 .. and leaves the results, in the order of the points,
 * in variables order[0] .. order[slots-1]. It uses `lane`, `table` (float4) and `shared` (float2, the transform's
 * region); where `after` is set, `shared` was read before and needs a barrier first: with regions, of the neighbours
 * if it is the reverse transform.
 */
void penstock__fused_transform(struct gpu_text *text, const struct fused_config *config, const char *name, bool reverse,
                               bool after, const unsigned *in_order, unsigned order[GPU_MAX_SLOTS]);

#endif
