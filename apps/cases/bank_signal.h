/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Random samples of a case's filter bank, the stream of it, and its values by their definition. */
#ifndef PENSTOCK_APPS_CASES_BANK_SIGNAL_H
#define PENSTOCK_APPS_CASES_BANK_SIGNAL_H

#include "cases.h"

struct bank_signal {
    const struct channelizer_case *bank;
    size_t samples, frames, kept, tap_count; /* of the stream, and what comes of them */
    void *in;
    float *taps;
    size_t *select;
};

/* A library status; freed in either case. */
int bank_signal_make(struct bank_signal *signal, const struct channelizer_case *bank, size_t samples);
void bank_signal_free(struct bank_signal *signal);

int bank_signal_open(const struct bank_signal *signal, penstock_stream **stream, const struct case_target *target);

/* Value c of frame m, in double precision. */
void bank_signal_value(const struct bank_signal *signal, size_t m, size_t c, double y[2]);

/* The bound for values, relative L2. */
double bank_signal_bound(const struct bank_signal *signal, const struct case_target *target);

#endif
