/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From a symbol's transform to its results: what happens on the CPU after the FFT, one symbol at a time. */
#ifndef PENSTOCK_OPS_OFDM_SYMBOL_H
#define PENSTOCK_OPS_OFDM_SYMBOL_H

#include "ops/ofdm/ofdm_kernels.h"

/* A grid as the description gave it, in the form that the loops want. Read-only once made. */
struct ofdm_grid {
    size_t n;
    struct ofdm_carriers data, pilots;
    size_t pilot_rows;
    penstock_cf32 *pilot_inverse; /* rows of pilots.count: 1 / value */
    float *pilot_power;           /* likewise: |value|^2 */
    penstock_tracking tracking;
    size_t pitch; /* soft bits a carrier */
};

/* One thread's memory. */
struct ofdm_worker {
    const penstock_ofdm_frame *frame; /* whose inverses these are; NULL: none yet */
    struct ofdm_inverse data, pilots;
    penstock_cf32 *received; /* pilots.count */
    float *re, *im;
    uint32_t *words;
};

/* `desc` is checked. What is made before a failure is released by the free function too. */
int penstock__ofdm_grid_init(struct ofdm_grid *grid, const penstock_ofdm_desc *desc);
void penstock__ofdm_grid_free(struct ofdm_grid *grid);

int penstock__ofdm_worker_init(struct ofdm_worker *worker, const struct ofdm_grid *grid);
void penstock__ofdm_worker_free(struct ofdm_worker *worker);

/* `fft`: n values by bin. `row`: of the results. */
void penstock__ofdm_symbol(const struct ofdm_grid *grid, const struct ofdm_kernels *kernels, struct ofdm_worker *worker,
                           const penstock_ofdm_frame *frame, const penstock_ofdm_symbol *symbol,
                           const penstock_cf32 *fft, const penstock_ofdm_result *result, size_t row);

/* A symbol's phase or slope as it is taken out: 0 unless it counts, whole turns left out. */
float penstock__ofdm_given(const struct ofdm_grid *grid, float angle);

#endif
