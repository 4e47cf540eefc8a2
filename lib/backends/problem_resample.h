/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Outputs at any ratio of rates, as a backend is asked for them. */
#ifndef PENSTOCK_PROBLEM_RESAMPLE_H
#define PENSTOCK_PROBLEM_RESAMPLE_H

#include <penstock/penstock.h>

/*
 * Outputs of a polyphase filter at any ratio of rates. A frame is an output, made from head.taps samples of a job from
 * sample `at` on, its place, by the arm at `part` units behind the sample that the first tap belongs to:
 *
 *     y = sum over k < taps of x[at + k] (h[k][a] + f d[k][a]),    a + f = part arms / unit, a whole, 0 <= f < 1
 *
 * The next output's part is head.part units further, and its place head.whole samples, and one more where that reaches
 * a whole unit. Each `block` outputs have a start, place and part of the first, at the job's `gather`, as many as its
 * frames take; with `real` samples, F32, and outputs are of one float and taps real. Samples before the job's `start`
 * and from its `spacing` on are zeros, whatever is in memory there.
 */
struct penstock_resample_problem {
    penstock_format format; /* not PLANAR */
    bool real;              /* only of F32, and with real taps */
    bool complex_taps;
    size_t block; /* a power of two, at most PENSTOCK__RESAMPLE_BLOCK */
};

#define PENSTOCK__RESAMPLE_BLOCK 1024
#define PENSTOCK__RESAMPLE_UNITS ((uint64_t)1 << 53)

struct penstock_resample_start {
    uint32_t at, reserved;
    uint64_t part;
};

/*
 * What a job's coefficients begin with. Behind it stand for each tap, the first sample's first, its h and d for each
 * arm: pairs of floats, complex taps' real parts and imaginary parts in turn. A fixed-point number with 32 bits behind
 * the point, a + f, is the upper half of (part << shift) scale.
 */
struct penstock_resample_head {
    uint32_t taps, arms;   /* taps: a multiple of 8 */
    uint32_t whole, shift; /* part << shift < 2^64 */
    uint64_t unit, part;   /* part < unit <= PENSTOCK__RESAMPLE_UNITS */
    uint64_t scale;
    float inverse; /* 1 / unit */
    uint32_t span; /* samples that the taps of `block` outputs reach over at most */
    uint32_t reserved[4];
};

/* Bytes of the coefficients. */
static inline size_t penstock__resample_bytes(const struct penstock_resample_problem *resample, size_t taps,
                                              size_t arms)
{
    return sizeof(struct penstock_resample_head) + taps * arms * (resample->complex_taps ? 4 : 2) * sizeof(float);
}

/* A job's starts. */
static inline size_t penstock__resample_starts(const struct penstock_resample_problem *resample, size_t outputs)
{
    return (outputs + resample->block - 1) / resample->block;
}

/* Beside samples, what a batch of outputs has. */
struct penstock_resample_tables {
    const struct penstock_resample_start *starts;
    const struct penstock_resample_head *head; /* with what is behind it: */
    size_t head_bytes;
    uint32_t first, end; /* samples that are none of the zeros before and after them */
};

#endif
