/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kinds of kernels behind gpu/fused_kernel.h, each of which has a file: its configuration, source and table. */
#ifndef PENSTOCK_GPU_FUSED_KINDS_H
#define PENSTOCK_GPU_FUSED_KINDS_H

#include "gpu/fused_kernel.h"

struct fused_kind {
    const char *names[FUSED_KERNELS]; /* of the kernels of a program */

    /* As the functions of gpu/fused_kernel.h. Without `check` it does what all transforms do; without `table` it reads
     * that of the transform alone. */
    int (*check)(const struct penstock_problem *problem, const char *device);
    int (*configure)(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant);
    int (*source)(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem);
    int (*table)(float **values, size_t *count, const struct fused_kernel *self,
                 const struct penstock_problem *problem);
};

/* Each of the .cl file of its name; ofdm of powers of two, symbols for the rest; deinterleave and tally
 * of coded.cl. */
extern const struct fused_kind penstock__fused_plain, penstock__fused_spectrum, penstock__fused_filter,
    penstock__fused_ofdm, penstock__fused_symbols, penstock__fused_ldpc, penstock__fused_resample,
    penstock__fused_deinterleave, penstock__fused_tally, penstock__fused_overlap;

/* Whether the kernel does this and was found faster there than kernels/fft.cl. */
bool penstock__fused_plain_fits(const struct penstock_fft_problem *fft, const struct gpu_limits *limits);

/* Mean power over at least two frames, by a plain forward transform of a power of two. */
bool penstock__fused_spectrum_fits(const struct penstock_fft_problem *fft);

/* What makes a sample in memory one of full scale 1. */
static inline double penstock__fused_sample_factor(penstock_format format)
{
    return format == PENSTOCK_CS16 ? 1.0 / 32768 : format == PENSTOCK_CF32 ? 1 : 1.0 / 128;
}

/* The kernels of ofdm.cl: with a list of symbols; without; and without, for small levels. */
enum { FUSED_OFDM_LISTED, FUSED_OFDM_EVEN, FUSED_OFDM_NARROW };

/* Slots of ofdm.cl's transform that are written out together: two of which a work-item has a carrier in one at most,
 * else one. `places`: each bin's in the output, or FUSED_NO_CARRIER. */
#define FUSED_NO_CARRIER UINT32_MAX
struct fused_ofdm_unit {
    unsigned count, slot[2];
};
unsigned penstock__fused_ofdm_units(struct fused_ofdm_unit units[GPU_MAX_SLOTS], const struct fused_config *config,
                                    const uint32_t *places);

#endif
