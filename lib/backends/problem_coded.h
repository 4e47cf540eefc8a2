/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Symbols of coded frames between demodulation and decoding, as a backend is asked for them. */
#ifndef PENSTOCK_PROBLEM_CODED_H
#define PENSTOCK_PROBLEM_CODED_H

#include <penstock/penstock.h>

/*
 * Symbols as a problem of kind OFDM with `complete` output leaves them; a frame is a symbol. Each has one of several
 * rates: steps of the code that it brings, bits of a point, and where each of the coded bits of these steps, two a
 * step, is among its soft bits.
 *
 * Its coded bits go to where the rows of the code's decoder are, those that were not sent being 0. Or, `tally`, when
 * the frames are decoded: how many of the bits sent were received as others, and how far the points are from those of
 * the constellation; and the decoded bits themselves go together, each frame's behind the other.
 *
 * What is not the same for all symbols is a list at the job's `gather`. With `tally` the decoded blocks, of
 * block_bytes each, packed with the first bit lowest, are at its `coefficients`; and the output is a
 * penstock_coded_count for each symbol, and behind these the bits.
 */
struct penstock_coded_problem {
    unsigned carriers;
    unsigned pitch; /* soft bits of a symbol */
    unsigned generators[2];
    unsigned constraint;
    unsigned rate_count;
    unsigned row; /* numbers that a rate has in `rates` */
    /* Of each rate its steps, a multiple of 4; bits of a point, 1 or an even number; then, two for each step, places of
     * soft bits in a symbol, -1: not sent. */
    const int32_t *rates;
    size_t block_bytes; /* 0 without `tally` */
    bool tally;
};

#define PENSTOCK__CODED_STEPS 0 /* in a rate's row */
#define PENSTOCK__CODED_BITS  1
#define PENSTOCK__CODED_MAP   2

/* A symbol. */
struct penstock_coded_symbol {
    uint32_t rate;
    uint32_t coded;  /* where its coded bits go, in bytes of the output, a multiple of 4 */
    uint32_t block;  /* of the frame's decoded bits */
    uint32_t step;   /* of the frame, with which it begins; a multiple of 4 */
    uint32_t steps;  /* of the frame; those behind them are padding */
    uint32_t packed; /* where the frame's bits begin, in bytes behind the counts */
    uint32_t reserved[2];
};

struct penstock_coded_count {
    float error; /* squared distance from the nearest points, with levels at odd integers */
    uint32_t wrong;
};

#endif
