/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A filter's taps from the text of an option: a design in hertz, or a file. */
#ifndef PENSTOCK_APPS_TAPS_H
#define PENSTOCK_APPS_TAPS_H

#include "shared/command.h"
#include "shared/number.h"

struct taps {
    penstock_cf32 *complex_taps; /* one of the two is NULL */
    float *real_taps;
    size_t count;
    bool designed; /* symmetric: (count - 1) / 2 samples of delay */
};

/* Tells of a design that is none at any rate. Returns an exit code. */
int taps_check(const char *text);

/*
 * `text`: lowpass:CUT:TRANS, highpass:CUT:TRANS, bandpass:LOW:HIGH:TRANS, bandreject:LOW:HIGH:TRANS (edges and width of
 * the transition in hertz), equiripple:CUT:TRANS (low-pass), rrc:SYMBOL_RATE:ROLLOFF, or the name of a text file with a
 * tap a line, "RE" or "RE IM". Returns an exit code.
 */
int taps_read(struct taps *taps, const char *text, double rate_hz, double attenuation_db);
void taps_free(struct taps *taps);

/* For --help. */
#define TAPS_NOTES                                                                                                 \
    "Taps: lowpass:CUT:TRANS, highpass:CUT:TRANS, bandpass:LOW:HIGH:TRANS, bandreject:LOW:HIGH:TRANS with edges\n" \
    "and width of the transition in hertz, equiripple:CUT:TRANS (low-pass with the fewest taps),\n"                \
    "rrc:SYMBOL_RATE:ROLLOFF, or a text file with a tap a line: RE or RE IM. A design passes with a gain of one\n" \
    "and has the attenuation as measured: that far below is what it stops, and its ripple in what it passes.\n"

#endif
