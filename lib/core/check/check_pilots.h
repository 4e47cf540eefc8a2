/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Pilots of OFDM symbols for their self-check, and least squares as they are defined. */
#ifndef PENSTOCK_CORE_CHECK_PILOTS_H
#define PENSTOCK_CORE_CHECK_PILOTS_H

#include "backends/backend.h"

/* What the pilots of a symbol in a frame know of: its row of their values, its frame's coefficients. */
struct penstock__check_pilots {
    const struct penstock_ofdm_problem *ofdm;
    const penstock_cf32 *coefficients, *values;
};

/* What they tell, to be taken out. */
struct penstock__check_line {
    double phase, slope;
    double slope_error; /* of one pilot's angle in the slope */
};

/* Number of the carrier at a bin, from -n / 2 on. */
int32_t penstock__check_carrier(const struct penstock_ofdm_problem *ofdm, uint32_t bin);

/* Random gains, where a bin's strength is `strength`, and weights as struct penstock_ofdm_tables has them. */
void penstock__check_weigh(penstock_cf32 *coefficients, const struct penstock_ofdm_problem *ofdm, double strength,
                           uint64_t *random);

/* Random bins, and pilots as they were sent, turned by their gain, a phase and a slope of up to a radian in all. */
void penstock__check_fill(double *spectrum, const struct penstock__check_pilots *pilots, uint64_t *random);

/* Pilot `p` of a spectrum, by its gain and against what was sent. */
void penstock__check_pilot(double seen[2], const double *spectrum, const struct penstock__check_pilots *pilots,
                           size_t p);

/* Phase and slope of the symbol's own pilots, by the weights. */
struct penstock__check_line penstock__check_follow(const double *spectrum, const struct penstock__check_pilots *pilots);

#endif
