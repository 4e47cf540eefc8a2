/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Fast convolution, as a backend is asked for it. */
#ifndef PENSTOCK_PROBLEM_FILTER_H
#define PENSTOCK_PROBLEM_FILTER_H

#include <penstock/penstock.h>

/*
 * Overlap-save by `partitions` sets of n taps: frame i reads n + (partitions - 1) block samples from i block on. Part p
 * of the response, in the order of penstock__filter_place(), is multiplied by the transform of the n samples from (i +
 * partitions - 1 - p) block on; of the inverse transform (not divided by n) of the sum of these products, each
 * `decimation`-th value is kept from `first` on, block / decimation of them. With `rotated` value j of frame i is then
 * multiplied by exp(2 pi i phase) and by value j of a table. Real samples (F32) give the real parts of their values.
 *
 * With interpolation there is one partition and a set of n taps for each place between two samples: value m
 * interpolation + k of all is value m of the k-th set's inverse transform. Each `decimation`-th of these is kept.
 */
struct penstock_filter_problem {
    size_t n;               /* even */
    penstock_format format; /* not PLANAR; samples as they are in memory, as of OFDM */
    size_t block, first;
    size_t partitions;                /* >= 1 */
    size_t interpolation, decimation; /* >= 1; block interpolation is a multiple of decimation */
    bool rotated;
};

/* Values that a block gives. */
static inline size_t penstock__filter_values(const struct penstock_filter_problem *filter)
{
    return filter->block * filter->interpolation / filter->decimation;
}

/* Sets of taps in a response. */
static inline size_t penstock__filter_sets(const struct penstock_filter_problem *filter)
{
    return filter->partitions * filter->interpolation;
}

/* Samples that `frames` >= 1 frames span in the input. */
static inline size_t penstock__filter_samples(const struct penstock_filter_problem *filter, size_t frames)
{
    return (frames + filter->partitions - 2) * filter->block + filter->n;
}

/*
 * Where value k of a part's spectrum stands among its n, an even number: values n / 2 apart lie side by side, since a
 * work-item needs both; and of 4096 the pairs stand as the work-items of lib/gpu/fused_pass.h want them one after the
 * other, the two low digits to base 16 exchanged.
 */
static inline size_t penstock__filter_place(size_t n, size_t k)
{
    size_t pair = k < n / 2 ? k : k - n / 2;
    if (n == 4096)
        pair = pair / 256 * 256 + pair % 16 * 16 + pair / 16 % 16;
    return 2 * pair + (k < n / 2 ? 0 : 1);
}

/* Pairs of floats of a response: n for each set, and with `rotated` the table and one more pair, whose bits are by how
 * much the phase of a frame is ahead of the one before: two uint32_t, the upper half first, in units of 2^-64 turns. */
static inline size_t penstock__filter_response(const struct penstock_filter_problem *filter)
{
    return penstock__filter_sets(filter) * filter->n + (filter->rotated ? penstock__filter_values(filter) + 1 : 0);
}

#endif
