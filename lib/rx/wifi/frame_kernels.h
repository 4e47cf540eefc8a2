/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a frame's examination and its pilots take most of their time for, in loops that are built once for each
 * instruction set. All builds add in the same order and give the same bits. */
#ifndef PENSTOCK_RX_WIFI_FRAME_KERNELS_H
#define PENSTOCK_RX_WIFI_FRAME_KERNELS_H

#include "rx/wifi/receiver.h"

#define FOLDED          16 /* sums of a window's 64 samples, which a pilot's carrier is added up of */
#define SYMBOLS_AT_ONCE 8

/*
 * The four pilots' carriers of a window of 64 samples, n, rotated by the carrier offset, come from sums of samples 16
 * apart, as their numbers are odd: of samples 32 apart the difference, of those 16 apart the sum with a quarter of a
 * turn, one way or the other.
 */
struct frame_pilots {
    penstock_cf32 half, quarter; /* what the offset makes in 32 samples, and in 16, this times i */

    /* Carrier and offset at each sample; each part twice, for samples' real and imaginary parts. */
    float re[PENSTOCK__WIFI_PILOTS][2 * FOLDED], im[PENSTOCK__WIFI_PILOTS][2 * FOLDED];

    penstock_cf32 constant[PENSTOCK__WIFI_PILOTS]; /* what the samples' mean makes of them */
    penstock_cf32 expected[PENSTOCK__WIFI_PILOTS]; /* conjugate, at polarity 1, for samples that are not scaled */
    float slope_scale;                             /* what makes slope of the pilots' moment */
};

/* Symbols side by side: their pilots' carriers, and what these tell. */
struct frame_symbols {
    float re[PENSTOCK__WIFI_PILOTS][SYMBOLS_AT_ONCE], im[PENSTOCK__WIFI_PILOTS][SYMBOLS_AT_ONCE];
    float slope[SYMBOLS_AT_ONCE]; /* radians a carrier, half a sample's at most, to be taken out */
    float phase[SYMBOLS_AT_ONCE]; /* of the sum of the four then, radians */
    float rest[SYMBOLS_AT_ONCE];  /* of slope; not finite where there is nothing, or too much */
};

struct frame_kernels {
    /* The 64-point DFT, forward and not scaled. */
    void (*transform)(struct penstock__wifi_bins *out, const float *re, const float *im,
                      const struct frame_turns *turns);

    /* out = in times the conjugate of `by`; out may be in. */
    void (*mul_conj)(struct penstock__wifi_bins *out, const struct penstock__wifi_bins *in,
                     const struct penstock__wifi_bins *by);

    /* Of two symbols with the same carriers, `known`, 0 or of size one: the power by which these differ but for a phase
     * that all of them share. */
    float (*compare)(const struct penstock__wifi_bins *first, const struct penstock__wifi_bins *second,
                     const float *known);

    /* Their mean over `known`, and over what makes it `later`. */
    void (*estimate)(struct penstock__wifi_bins *out, const struct penstock__wifi_bins *first,
                     const struct penstock__wifi_bins *second, const float *known,
                     const struct penstock__wifi_bins *later);

    /* Adds to `out` the parts of `in` along `count` rows; the power of what is left of it. */
    float (*project)(struct penstock__wifi_bins *out, const struct penstock__wifi_bins *in,
                     const struct penstock__wifi_bins *rows, unsigned count);

    /* The pilots' carriers of a window, into place `at`. */
    void (*see)(struct frame_symbols *symbols, unsigned at, const penstock_cf32 *samples,
                const struct frame_pilots *pilots);

    /* Squared distances of a symbol's points times `unit` from the nearest ones with `levels` on an axis, at odd
     * integers; `real`: on one axis, and nothing on the other. */
    float (*stray)(const penstock_cf32 *points, float unit, float levels, bool real);

    /* Phase and rest of all symbols. */
    void (*combine)(struct frame_symbols *symbols, const struct frame_pilots *pilots);
};

extern const struct frame_kernels penstock__frame_kernels_plain, penstock__frame_kernels_avx2;

const struct frame_kernels *penstock__frame_kernels(void);

#endif
