/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The stream of a case's spectra, or vectors. */
#ifndef PENSTOCK_APPS_CASES_SPECTRUM_H
#define PENSTOCK_APPS_CASES_SPECTRUM_H

#include "cases.h"

/* A library status. `*window` has its n values, of ones where the case has none; freed by the caller in either case. */
int spectrum_case_open(penstock_stream **stream, float **window, const struct spectrum_case *spectrum,
                       const struct case_target *target);

#endif
