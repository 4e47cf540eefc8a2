/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What goes into a case's filter bank, at random, the stream of it, and its values by their definition. */
#ifndef PENSTOCK_APPS_CASES_BANK_SIGNAL_H
#define PENSTOCK_APPS_CASES_BANK_SIGNAL_H

#include "cases.h"

struct bank_signal {
    const struct channelizer_case *bank;
    size_t samples, frames, kept, tap_count;         /* of the stream, and what comes of them; or the way back */
    size_t in_items, in_bytes, out_items, out_bytes; /* what goes in and comes out, and bytes of one */
    void *in;                                        /* samples; or frames, by channel where the case has `streams` */
    float *taps;
    size_t *select;
};

/* A library status; freed in either case. Of a synthesis bank the samples are rounded up to whole hops. */
int bank_signal_make(struct bank_signal *signal, const struct channelizer_case *bank, size_t samples);
void bank_signal_free(struct bank_signal *signal);

int bank_signal_open(const struct bank_signal *signal, penstock_stream **stream, const struct case_target *target);

/* In double precision: value c of frame m, or of a synthesis bank sample m. */
void bank_signal_value(const struct bank_signal *signal, size_t m, size_t c, double y[2]);

/* Products that this takes. */
size_t bank_signal_products(const struct bank_signal *signal);

/*
 * The bound for values, relative L2: that of a transform of M points, and sqrt(T) / 4 times the same unit for the
 * rounding of sums of T products. A branch of the analysis has L / M of them, a sample of the synthesis L / R. What the
 * transforms are off by goes through the sums as their values do, as frames at random are not alike, so its part of the
 * result is the same before the sums and behind them.
 */
double bank_signal_bound(const struct bank_signal *signal, const struct case_target *target);

#endif
