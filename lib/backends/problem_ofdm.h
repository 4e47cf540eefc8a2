/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Symbols to soft bits, as a backend is asked for them. */
#ifndef PENSTOCK_PROBLEM_OFDM_H
#define PENSTOCK_PROBLEM_OFDM_H

#include <penstock/penstock.h>

/*
 * Symbols to soft bits, `bits` a carrier. `complete`: the output of a batch is the soft bits of all symbols, then, each
 * part from a multiple of 8 bytes on, all points, all pilots as penstock_ofdm_result has them, and two floats a symbol,
 * phase and slope. `mixed`: frames may have any constellation of at most `bits`, the bits that a point has not being 0.
 */
struct penstock_ofdm_problem {
    size_t n;
    penstock_format format; /* neither PLANAR nor F32 */
    unsigned bits;          /* of each point: 1 (BPSK) or an even number to 10 */
    size_t carrier_count;
    const uint32_t *bins; /* of the carriers, in the order of the output */
    bool mixed;
    bool complete; /* only with `mixed` */
    bool own;      /* phase and slope are those of the symbol's own pilots; only with `mixed` and pilots */
    size_t pilot_count, pilot_rows;
    const uint32_t *pilot_bins;
    const penstock_cf32 *pilot_values; /* rows of pilot_count; a pilot's absolute value is the same in all rows */
};

/* Where each part of `complete` output begins for a batch of one symbol, as many times later for others; and the bytes
 * of a symbol. */
static inline size_t penstock__ofdm_points_at(const struct penstock_ofdm_problem *ofdm)
{
    return (ofdm->carrier_count * ofdm->bits + 7) / 8 * 8;
}

static inline size_t penstock__ofdm_pilots_at(const struct penstock_ofdm_problem *ofdm)
{
    return penstock__ofdm_points_at(ofdm) + ofdm->carrier_count * sizeof(penstock_cf32);
}

static inline size_t penstock__ofdm_phase_at(const struct penstock_ofdm_problem *ofdm)
{
    return penstock__ofdm_pilots_at(ofdm) + ofdm->pilot_count * sizeof(penstock_cf32);
}

static inline size_t penstock__ofdm_row(const struct penstock_ofdm_problem *ofdm)
{
    return ofdm->complete ? penstock__ofdm_phase_at(ofdm) + 2 * sizeof(float) : ofdm->carrier_count * ofdm->bits;
}

/* Pairs of floats that a frame has in struct penstock_ofdm_tables. */
static inline size_t penstock__ofdm_coefficients(const struct penstock_ofdm_problem *ofdm)
{
    return ofdm->n + 2 + 3 * ofdm->pilot_count;
}

/*
 * A symbol: where its transform starts, in samples of the job's input, how it is rotated on load (as a gathered frame
 * is), the frame whose coefficients it has, and what is taken out behind the transform, where it is not from the
 * symbol's own pilots: bin k, which stands for carrier k or k - n, is multiplied by exp(2 pi i (common + carrier slope)
 * / 2^32).
 */
struct penstock_ofdm_descriptor {
    uint32_t start, phase, step, frame;
    uint32_t common, slope;
    uint32_t pilot_row; /* of pilot_values */
    uint32_t phase_low; /* 32 more bits of the phase, where symbols follow from the first */
};

/*
 * A frame's coefficients, pairs of floats: a bin of the transform of samples as they are in memory (integers as whole
 * numbers, cu8 less 127.5) times its gain is a point whose levels stand at odd multiples of |gain|^2 times the ratio.
 * That multiple is also the soft bit of a point at the distance of one level from its only border. Pair n: the ratio,
 * and what takes levels at odd integers to a point of mean power one. Pair n + 1: bits of the frame's constellation,
 * and the pilots' mean carrier k0. Then three pairs a pilot: a gain, which turns all pilots alike, so that only its
 * direction counts; its weights in common phase and slope, which are the sums of weight times angle; and what takes
 * the pilot times gain and conjugate value to what it is received as. At least one frame.
 */
struct penstock_ofdm_tables {
    /* One a symbol; or, if spacing > 0, two: symbol i is the first, moved by i spacing and with i times the second's
     * phase added to its own, 64 bits each; NULL: symbol i starts at start + i spacing (> 0), all are of frame 0 and
     * nothing is taken out. */
    const struct penstock_ofdm_descriptor *descriptors;
    uint32_t start, spacing;
    bool narrow; /* no level is above 21 */
    const penstock_cf32 *coefficients;
    size_t frame_count;
};

static inline size_t penstock__ofdm_descriptors(const struct penstock_ofdm_tables *tables, size_t symbols)
{
    return tables->spacing ? 2 : symbols;
}

#endif
