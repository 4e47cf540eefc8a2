/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A radio's time stamps: what was lost between one and the next. */
#ifndef PENSTOCK_RADIO_SOAPY_CLOCK_H
#define PENSTOCK_RADIO_SOAPY_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: no stamp has come. Sample number `since` after the one that was stamped `stamp_ns` comes next. */
struct penstock__soapy_clock {
    bool stamped;
    long long stamp_ns;
    uint64_t since;
    unsigned right; /* stamps in a row that were what those before them said, to half a sample, or jumped after that */
};

/* Samples between what came last and those at `time_ns`; false where that cannot be, since a driver has set its clock
 * anew, say. */
bool penstock__soapy_clock_lost(const struct penstock__soapy_clock *clock, double rate_hz, long long time_ns,
                                double *lost);

/* Whether it tells of lost samples by itself: not where a driver stamps by the computer's clock, whose stamps are never
 * right for long. */
bool penstock__soapy_clock_jumps(const struct penstock__soapy_clock *clock, double rate_hz, long long time_ns);

/* The next sample is stamped. */
void penstock__soapy_clock_stamp(struct penstock__soapy_clock *clock, double rate_hz, long long time_ns);

#endif
