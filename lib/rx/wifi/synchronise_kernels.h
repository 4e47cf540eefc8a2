/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The search for the long training field, in loops that are built once for each instruction set. All builds add in the
 * same order and give the same bits. */
#ifndef PENSTOCK_RX_WIFI_SYNCHRONISE_KERNELS_H
#define PENSTOCK_RX_WIFI_SYNCHRONISE_KERNELS_H

#include "rx/wifi/receiver.h"

#define SPREAD 16 /* samples over which echoes arrive */

/* First and last place of the long symbol in a segment: the short field's window starts BEFORE samples in, and the long
 * symbol 112 .. 240 samples after that. Nothing here looks further than to the last place's second symbol. */
#define SEARCH_FROM 208
#define SEARCH_TO   (BEFORE + LONG_FIELD - SPREAD - 2 * PENSTOCK__WIFI_FFT)

/* The lags at which the long symbols may begin, the samples of both, and those that they arrive in by all paths. */
enum {
    LAGS = SEARCH_TO - SEARCH_FROM + SPREAD,
    BOTH = 2 * PENSTOCK__WIFI_FFT,
    ARRIVAL = BOTH + SPREAD,
    ARRIVALS = LAGS - SPREAD + 1
};

/* Of the samples in which the two symbols arrive, in all ways that this can lie: their mean, which is the last one's at
 * lags behind these, and power without it. */
struct sync_arrivals {
    float re[LAGS + BOTH], im[LAGS + BOTH], power[LAGS + BOTH];
};

struct sync_lags {
    float re[LAGS], im[LAGS]; /* correlation with the long symbol, of both symbols' sum */
    float power[LAGS];        /* of that, without what the mean adds to it */
    float share[LAGS];        /* what the SPREAD lags from each on gather of the energy; 0 behind the arrivals */
};

struct sync_kernels {
    /* Phases of ROTATION `count` samples from `from` on. */
    void (*turn)(struct penstock__wifi_phases *phases, double cfo, size_t from, size_t count);

    /* So many samples as they are looked at, turned from phase `first` of those on. */
    void (*rotate)(float *re, float *im, const penstock_cf32 *samples,
                   const struct penstock__wifi_correction *correction, const struct penstock__wifi_phases *phases,
                   size_t first, size_t count);

    /* From samples that are LAGS + BOTH. */
    void (*arrive)(struct sync_arrivals *arrivals, const penstock_cf32 *samples,
                   const struct penstock__wifi_correction *correction);

    /* lags->re and lags->im, of rotated samples. */
    void (*correlate)(struct sync_lags *lags, const float *re, const float *im,
                      const struct penstock__wifi_correlator *correlator);

    /* The rest, with phases of samples that begin with ROTATION before those of the lags; the lag that gathers most. */
    unsigned (*weigh)(struct sync_lags *lags, const struct sync_arrivals *arrivals,
                      const struct penstock__wifi_phases *phases, const struct penstock__wifi_bins *known);
};

extern const struct sync_kernels penstock__sync_kernels_plain, penstock__sync_kernels_avx2;

const struct sync_kernels *penstock__sync_kernels(void);

#endif
