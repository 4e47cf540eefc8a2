/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How far the response of symmetric taps is from what was asked. */
#ifndef PENSTOCK_FILTER_RESPONSE_H
#define PENSTOCK_FILTER_RESPONSE_H

#include <stddef.h>

struct penstock__band {
    double from, to; /* cycles per sample, 0 .. 0.5; from > to: none */
    double gain, weight;
};

/*
 * The largest weighted error in these bands of taps as they are in float: at the bands' edges, and at the extrema of
 * the response by parabolas through 16 to 32 points a tap, in double precision, which miss 0.5 % at most.
 */
int penstock__taps_error(double *error, const float *taps, size_t count, const struct penstock__band *bands,
                         size_t band_count);

#endif
