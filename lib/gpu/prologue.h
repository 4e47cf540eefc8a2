/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The generated part of a kernel's source: every size, radix and offset of one pass as constants. */
#ifndef PENSTOCK_GPU_PROLOGUE_H
#define PENSTOCK_GPU_PROLOGUE_H

#include "gpu/table.h"
#include "gpu/text.h"

/* Appends the definitions that kernels/fft.cl is written in, for pass `index`. Errors are left in `text`. */
void penstock__gpu_prologue(struct gpu_text *text, const struct gpu_decomposition *decomposition, unsigned index,
                            const struct gpu_table *table, const struct penstock_fft_problem *fft, bool ptx);

/* Whether the pass's points are in registers of PTX where CUDA compiles it: kernels/points.h. */
bool penstock__gpu_in_ptx(const struct gpu_decomposition *decomposition, unsigned index);

/* Of these, those of kernels/stages.h: a transform on the chip. `columns` 1: the points of each lie together. */
void penstock__gpu_prologue_stages(struct gpu_text *text, const struct gpu_launch_config *config,
                                   const unsigned *stage_at, unsigned columns, bool ptx);

/* Load and store stage alone, with the caller's constants. */
void penstock__gpu_prologue_memory(struct gpu_text *text, const struct gpu_decomposition *decomposition,
                                   const struct gpu_pass *pass, const struct gpu_table *table,
                                   const struct penstock_fft_problem *fft);

/* "if (lane < 7) {" and " }" where not all work-items take part. They stand aside on a GPU; on a CPU they compute
 * along, as its loops have no branches then, and `writes` tells whether that does harm. */
static inline bool penstock__gpu_guarded(const struct gpu_launch_config *config, unsigned limit, bool writes)
{
    return limit < config->lanes && (writes || !config->cpu);
}

static inline void penstock__gpu_open_guard(struct gpu_text *text, const struct gpu_launch_config *config,
                                            unsigned limit, bool writes)
{
    if (penstock__gpu_guarded(config, limit, writes))
        penstock__text_add(text, " if (lane < %u) {", limit);
}

static inline void penstock__gpu_close_guard(struct gpu_text *text, const struct gpu_launch_config *config,
                                             unsigned limit, bool writes)
{
    if (penstock__gpu_guarded(config, limit, writes))
        penstock__text_add(text, " }");
}

#endif
