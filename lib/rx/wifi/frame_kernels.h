/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a frame's examination and its pilots take most of their time for, in loops that are built once for each
 * instruction set. All builds add in the same order and give the same bits. */
#ifndef PENSTOCK_RX_WIFI_FRAME_KERNELS_H
#define PENSTOCK_RX_WIFI_FRAME_KERNELS_H

#include "rx/wifi/receiver.h"

#define ROTATION 16 /* samples turned from one exact phase; divides SEGMENT and where rotations start */

/* A vector over the used carriers, its parts apart. */
struct frame_carriers {
    float re[USED_CARRIERS], im[USED_CARRIERS];
};

/* Of each sample of a window what it adds to the four pilots' carriers, times its real part and times its imaginary
 * one: four real parts, then four imaginary ones. */
struct frame_pilots {
    float by_re[PENSTOCK__WIFI_FFT][2 * PENSTOCK__WIFI_PILOTS], by_im[PENSTOCK__WIFI_FFT][2 * PENSTOCK__WIFI_PILOTS];
};

struct frame_kernels {
    /* Keeps a projection's part of `in`; false as soon as the rest's power is above `limit`. */
    bool (*project)(const float *matrix, const struct frame_carriers *in, struct frame_carriers *out, float limit);

    /* out[k] = in[k] anchor turns[k] for the ROTATION samples of each of `count` anchors. */
    void (*rotate)(penstock_cf32 *out, const penstock_cf32 *in, const penstock_cf32 *turns,
                   const penstock_cf32 *anchors, size_t count);

    /* re[i], im[i], i < lags: the sum over k of samples i + k, their parts apart, times known[k], k < 64. */
    void (*correlate)(float *re, float *im, size_t lags, const float *sample_re, const float *sample_im,
                      const penstock_cf32 *known);

    /* The pilots' carriers of a window of 64 samples. */
    void (*see)(penstock_cf32 out[PENSTOCK__WIFI_PILOTS], const penstock_cf32 *samples,
                const struct frame_pilots *pilots);
};

extern const struct frame_kernels penstock__frame_kernels_plain, penstock__frame_kernels_avx2;

const struct frame_kernels *penstock__frame_kernels(void);

#endif
