/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How a transform of any length becomes kernels: by which method, and of how many passes, each one pass over memory. */
#ifndef PENSTOCK_GPU_DECOMPOSITION_H
#define PENSTOCK_GPU_DECOMPOSITION_H

#include "gpu/launch_config.h"

#define GPU_MAX_PASSES 23 /* 2^23 points with a pass for each stage of radix 2 */
#define GPU_MAX_PARTS  12 /* passes of a convolution's way there: the last one serves both ways */

enum gpu_method {
    GPU_PLAIN,
    GPU_BLUESTEIN, /* as a convolution with a chirp: L. Bluestein, IEEE Trans. AU-18(4), 1970 */
    GPU_RADER,     /* of a prime length, as a cyclic convolution: C. Rader, Proc. IEEE 56(6), 1968 */
    GPU_TRANSPOSE  /* no transform: lib/gpu/transpose.h */
};

enum gpu_real {
    GPU_COMPLEX,
    GPU_PACKED, /* n real samples as n / 2 complex points */
    GPU_WHOLE   /* n real samples as n complex points */
};

/*
 * One kernel. It takes every column c of the total / configuration.n columns of its data, points total /
 * configuration.n apart, through a transform of configuration.n points, and writes point k of it to (c / inner) inner
 * configuration.n + k inner + c % inner. After the last pass (inner = columns) that is natural order: Stockham's
 * algorithm, with passes for stages.
 */
struct gpu_pass {
    struct gpu_launch_config config;
    unsigned inner;
    bool first;  /* reads the caller's samples, else scratch memory */
    bool last;   /* writes the caller's values */
    bool middle; /* multiplies by the convolution's spectrum and starts the way back */
    bool back;   /* is on the way back, or turns there: values leave with real and imaginary parts exchanged */
};

struct gpu_decomposition {
    enum gpu_method method;
    enum gpu_real real;
    unsigned length; /* points of a frame that were asked for, n / 2 where packed */
    unsigned total;  /* points that are computed: length, or those of the convolution */
    unsigned side;   /* transforms that lie side by side in a frame, >= 1 */
    unsigned tiles;  /* of a transposition, else 0 */
    bool paired;     /* two transforms at a time, in numbers of 16 bits */
    unsigned texel;  /* samples and values are in images, so many to a texel; 0: in buffers */
    unsigned count;
    size_t chunk; /* points that go through scratch memory at once; 0: as usual */
    struct gpu_pass pass[GPU_MAX_PASSES];
};

/* PENSTOCK_ERR_UNSUPPORTED, with text, for what does not fit the limits and for a variant that does not exist. */
int penstock__gpu_decomposition(struct gpu_decomposition *decomposition, const struct penstock_fft_problem *fft,
                                const struct gpu_limits *limits, unsigned variant);

/* That of struct gpu_requirements, of a whole problem. */
bool penstock__gpu_whole(const struct penstock_fft_problem *fft);

/* Transforms that lie side by side in a pass's data. */
static inline unsigned penstock__gpu_columns(const struct gpu_decomposition *decomposition, const struct gpu_pass *pass)
{
    return decomposition->total / pass->config.n;
}

#endif
