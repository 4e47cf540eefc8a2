/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Random samples and taps of a case's filter, the stream of it, and its values by their definition. */
#ifndef PENSTOCK_APPS_CASES_FILTER_SIGNAL_H
#define PENSTOCK_APPS_CASES_FILTER_SIGNAL_H

#include "cases.h"

struct filter_signal {
    const struct filter_case *filter;
    size_t samples, values; /* of the stream, and what comes of them in each channel */
    void *in;
    penstock_cf32 *taps;
    float *real_taps;
};

/* A library status; freed in either case. */
int filter_signal_make(struct filter_signal *signal, const struct filter_case *filter, size_t samples);
void filter_signal_free(struct filter_signal *signal);

int filter_signal_open(const struct filter_signal *signal, penstock_stream **stream, const struct case_target *target);

/* A channel's value at position p, in double precision. */
void filter_signal_value(const struct filter_signal *signal, size_t channel, size_t p, double y[2]);

/* The bound for values by transforms of n points, relative L2. */
double filter_signal_bound(const struct case_target *target, size_t n);

#endif
