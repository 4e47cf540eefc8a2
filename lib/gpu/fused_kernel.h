/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Kernels that do more than a transform, and kernels/plain.cl, which is made of the same words: what backends do with
 * them. All take (in, list, factors, table, out, rows, start, spacing). The kinds: gpu/fused_kinds.h. */
#ifndef PENSTOCK_GPU_FUSED_KERNEL_H
#define PENSTOCK_GPU_FUSED_KERNEL_H

#include "gpu/decomposition.h"
#include "gpu/fused_pass.h"

struct fused_kernel {
    bool warps; /* work-items run in warps of 32 that a barrier of their own keeps together, as in CUDA */
    const struct fused_kind *kind;
    struct fused_config config;
    struct gpu_decomposition decomposition; /* of kernels/symbols.cl: of one pass; of others: none */
    unsigned group[2];                      /* work-items of a work-group */
    unsigned per_group;                     /* transforms of it */
    size_t local_bytes;                     /* of a work-group */
    unsigned copy_lanes, piece; /* OFDM: work-items that store together, and bytes that each stores at a time */
    unsigned items, checks;     /* LDPC: work-items for a pair of blocks, and checks of a base row that each has */
    bool paired;                /* LDPC: two edges' messages in a register */
    bool ptx;                   /* LDPC: OpenCL with PTX's instructions */
    unsigned held;              /* LDPC: base rows whose messages are in registers */
    unsigned stored;            /* LDPC: words of memory for the messages of the others, for a check of each */
    size_t scratch_bytes;       /* of the slot's memory that a work-group has; only where registers are few */
    unsigned tile;              /* RESAMPLE: samples in local memory */
};

/* Of any kind but FFT and VITERBI: PENSTOCK_ERR_UNSUPPORTED, with text, for what one kernel cannot do. */
int penstock__fused_check(const struct penstock_problem *problem, const char *device);

/* Of kind FFT: whether there is one that is faster than the transform's own, as the first variant on a GPU. */
bool penstock__fused_first(const struct penstock_problem *problem, const struct gpu_limits *limits);

/* PENSTOCK_ERR_UNSUPPORTED, with text, for what the device cannot do, or no variant. */
int penstock__fused_kernel_config(struct fused_kernel *self, const struct penstock_problem *problem,
                                  const struct gpu_limits *limits, unsigned variant, bool warps);
int penstock__fused_source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                           const struct penstock_problem *problem);

/* The table, to be freed with penstock__free(). */
int penstock__fused_kernel_table(float **values, size_t *count, const struct fused_kernel *self,
                                 const struct penstock_problem *problem);

/* Kernels of a program, at most, the name of each, NULL where there are fewer, and which of them does a job. */
#define FUSED_KERNELS 3
const char *penstock__fused_name(const struct fused_kernel *self, unsigned kernel);
unsigned penstock__fused_pick(const struct fused_kernel *self, const struct penstock_job *job);

/* Of so many work-groups, those of one launch: where they have scratch memory it is that of as many as run at once, and
 * `start` is the number of a launch's first group. */
size_t penstock__fused_at_once(const struct penstock_plan_state *plan, const struct fused_kernel *self, size_t groups);

/* What a plan says of itself; and rows and work-groups of a job, or PENSTOCK_ERR_ARGUMENT for one that is too large. */
void penstock__fused_describe(struct penstock_plan_state *plan, const struct fused_kernel *self);
int penstock__fused_grid(size_t *rows, size_t *groups, const struct penstock_plan_state *plan,
                         const struct fused_kernel *self, const struct penstock_job *job);

#endif
