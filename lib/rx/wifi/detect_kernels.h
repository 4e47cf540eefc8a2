/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The detector's sums, in loops that are built once for each instruction set. All builds add in the same order and give
 * the same bits. */
#ifndef PENSTOCK_RX_WIFI_DETECT_KERNELS_H
#define PENSTOCK_RX_WIFI_DETECT_KERNELS_H

#include "rx/wifi/receiver.h"

#define DETECT_WINDOWS  512 /* at once */
#define DETECT_GROUPS   (DETECT_WINDOWS + WINDOW_GROUPS)
#define DETECT_PRODUCTS (WINDOW_GROUPS * GROUP) /* of a window */

/* Sums over windows: of products with what comes 16 samples later, of power, and of samples. */
struct detect_sums {
    float lag_re[DETECT_GROUPS], lag_im[DETECT_GROUPS], power[DETECT_GROUPS], re[DETECT_GROUPS], im[DETECT_GROUPS];
};

struct detect_kernels {
    /* Of windows 0 .. `windows`, both included; `windows` <= DETECT_WINDOWS. */
    void (*sum)(struct detect_sums *sums, size_t windows, const penstock_cf32 *samples);
    /* What rx/receiver.h says of a window's strength. */
    void (*measure)(const struct detect_sums *sums, size_t windows, float *strength);
};

extern const struct detect_kernels penstock__detect_kernels_plain, penstock__detect_kernels_avx2;

/* Covariance at lag 16 of the window `g`. */
static inline penstock_cf32 penstock__detect_covariance(const struct detect_sums *sums, size_t g)
{
    const float a_re = sums->re[g], a_im = sums->im[g], b_re = sums->re[g + 1], b_im = sums->im[g + 1];
    return (penstock_cf32){sums->lag_re[g] - (a_re * b_re + a_im * b_im) / DETECT_PRODUCTS,
                           sums->lag_im[g] - (a_re * b_im - a_im * b_re) / DETECT_PRODUCTS};
}

#endif
