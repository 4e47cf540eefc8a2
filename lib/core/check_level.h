/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How strong the samples of a transform's self-check are. */
#ifndef PENSTOCK_CORE_CHECK_LEVEL_H
#define PENSTOCK_CORE_CHECK_LEVEL_H

#include "backends/backend.h"

struct penstock__check_level {
    double samples; /* a power of two, the factor on samples of full scale */
    double values;  /* what that makes of a sample by the largest factor of the window and the scale */
};

/* Such that neither the windowed samples nor the scaled values nor their squares leave the range of floats, as far as
 * the format lets them be chosen. */
struct penstock__check_level penstock__check_level(const struct penstock_fft_problem *fft);

#endif
