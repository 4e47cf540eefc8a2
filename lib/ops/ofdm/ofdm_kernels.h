/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The vector loops of OFDM demodulation: equalise a symbol's carriers, demap to soft bits. Each carrier's result
 * depends on that carrier alone and no operation is reordered or fused, so every build of them gives the same bits.
 * Values that are not finite do no harm, but what comes of them is not defined.
 *
 * Arrays of carriers hold a multiple of OFDM_LANES elements, aligned to 64 bytes; the caller pads them.
 */
#ifndef PENSTOCK_OPS_OFDM_KERNELS_H
#define PENSTOCK_OPS_OFDM_KERNELS_H

#include <penstock/ofdm.h>

#define OFDM_LANES 16

/* What is known of a set of carriers: constant from symbol to symbol. */
struct ofdm_carriers {
    size_t count;        /* wanted */
    size_t padded;       /* rounded up to OFDM_LANES; the padding repeats the first carrier */
    uint32_t *bin;       /* 0 .. n-1 */
    float *number;       /* -n/2 .. n/2-1 */
    penstock_cf32 *ramp; /* exp(2 pi i number window_offset / n): undoes the early FFT window */
};

/* A channel made ready for a set of carriers. */
struct ofdm_inverse {
    float *re, *im; /* ramp / channel; 0 where the channel is 0 or not finite */
    float *weight;  /* |channel|^2 / noise, likewise; 1e30 at the most */
};

struct ofdm_kernels {
    /* re + i im = fft[bin] * inverse * exp(-i (phase + slope * number)); |phase|, |slope| <= pi */
    void (*equalise)(const struct ofdm_carriers *carriers, const struct ofdm_inverse *inverse, const penstock_cf32 *fft,
                     float phase, float slope, float *re, float *im);

    /*
     * Soft bits of `carriers->count` points into `soft`, `pitch` bytes a carrier (1, 2, 4, 6, 8 or 10), zero beyond
     * the constellation's bits. `words` is scratch of 3 * padded values.
     *
     * Max-log LLR, exact: with an axis's levels at odd integers and u the coordinate, the squared distances to the
     * nearest positive and the nearest negative level differ by -4 sign(u) times the sum of max(0, |u| - 2 q) over
     * 0 <= q < half the levels, which is the first bit. The Gray code is symmetric about zero, so each next bit is
     * the first bit of the coordinate folded there: u' = half - |u|, with half the levels.
     */
    void (*demap)(penstock_constellation constellation, float llr_scale, const struct ofdm_carriers *carriers,
                  const float *weight, const float *re, const float *im, uint32_t *words, int8_t *soft, size_t pitch);
};

extern const struct ofdm_kernels penstock__ofdm_kernels_plain;
extern const struct ofdm_kernels penstock__ofdm_kernels_avx2; /* where the compiler has it */

/* The fastest that this processor runs. */
const struct ofdm_kernels *penstock__ofdm_kernels(void);

#endif
