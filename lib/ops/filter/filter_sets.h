/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An interpolating filter as one filter for each place between two samples, all of the same samples: the taps that set
 * s has are those of number s, s + I, s + 2 I, ... of the filter's. */
#ifndef PENSTOCK_OPS_FILTER_SETS_H
#define PENSTOCK_OPS_FILTER_SETS_H

#include "ops/filter/filter_engine.h"

/* Room and transforms for it. */
struct filter_sets {
    struct penstock_dft_plan *back, *forward; /* of `high` points to taps, and of n points of a set's */
    double *taps, *set, *scratch;
};

/* After an error too, free is to be called. */
int penstock__filter_sets_init(struct filter_sets *sets, const struct filter_shape *shape);
void penstock__filter_sets_free(struct filter_sets *sets);

/* The taps of a spectrum of `high` values, of real taps the first half of them. */
void penstock__filter_sets_take(struct filter_sets *sets, const struct filter_shape *shape,
                                const penstock_cf32 *spectrum);

/* To sets->set: the spectrum of set `index`, n pairs of doubles, for transforms that are not divided by n. */
void penstock__filter_sets_make(struct filter_sets *sets, const struct filter_shape *shape, size_t index);

#endif
