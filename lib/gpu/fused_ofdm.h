/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation in one kernel, kernels/ofdm.cl: its source, tables and launch. */
#ifndef PENSTOCK_GPU_FUSED_OFDM_H
#define PENSTOCK_GPU_FUSED_OFDM_H

#include "gpu/fused_pass.h"

struct fused_ofdm {
    struct fused_shape shape;
    size_t local_bytes; /* of a work-group */
    unsigned copy_lanes, piece;
};

/* The kernels: with a list of symbols; without; and without, for small levels. */
enum { FUSED_OFDM_LISTED, FUSED_OFDM_EVEN, FUSED_OFDM_NARROW, FUSED_OFDM_KERNELS };
extern const char *const penstock__fused_ofdm_names[FUSED_OFDM_KERNELS];

/* Which of them does a job. */
unsigned penstock__fused_ofdm_kernel(const struct penstock_job *job);

/* PENSTOCK_ERR_UNSUPPORTED, with text, for what one kernel cannot do. */
int penstock__fused_ofdm_check(const struct penstock_ofdm_problem *ofdm, const char *device);

/* `warps`: work-items run in warps of 32 that a barrier of their own keeps together, as in CUDA. */
int penstock__fused_ofdm_shape(struct fused_ofdm *self, const struct penstock_ofdm_problem *ofdm,
                               const struct gpu_limits *limits, unsigned variant, bool warps);
int penstock__fused_ofdm_source(struct gpu_text *text, const penstock_context *context, const struct fused_ofdm *self,
                                const struct penstock_ofdm_problem *ofdm);

/* The table, to be freed with penstock__free(). */
int penstock__fused_ofdm_table(float **values, size_t *count, const struct fused_ofdm *self,
                               const struct penstock_ofdm_problem *ofdm);

/* What a plan says of itself. */
void penstock__fused_ofdm_describe(struct penstock_plan_state *plan, const struct fused_ofdm *self);

/* Work-groups for a job. */
int penstock__fused_ofdm_groups(size_t *groups, const struct penstock_plan_state *plan, const struct fused_ofdm *self,
                                const struct penstock_job *job);

#endif
