/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The filter's descriptions: checks, defaults, and what they mean for the transforms. */
#ifndef PENSTOCK_OPS_FILTER_CHECK_H
#define PENSTOCK_OPS_FILTER_CHECK_H

#include "ops/filter/filter_engine.h"

/* Fills in the defaults too. */
int penstock__filter_check(penstock_filter_desc *desc);

/* A channel of a description that has been checked: the only one, or one of several. */
penstock_filter_channel penstock__filter_channel_of(const penstock_filter_desc *desc, size_t channel);
size_t penstock__filter_channels(const penstock_filter_desc *desc);

/* Taps of a description or of a change: exactly one of the two, 1 .. `most` of them, all finite. */
int penstock__filter_check_taps(const penstock_cf32 *complex_taps, const float *real_taps, size_t count, size_t most);

/* Of a description or a change. */
int penstock__filter_check_shift(double shift, const char *phase_name, double phase);

/* The shape but for the transform length; `desc` has been checked. */
void penstock__filter_shape_of(struct filter_shape *shape, const penstock_filter_desc *desc);

#endif
