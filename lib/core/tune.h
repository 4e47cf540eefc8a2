/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tuning of a plan: which of the launch configurations that its device's kernels can have is the fastest. */
#ifndef PENSTOCK_CORE_TUNE_H
#define PENSTOCK_CORE_TUNE_H

#include "core/executor.h"

/* Where the problem asks for tuning: an executor in the configuration that the cache folder remembers or that is
 * fastest now, checked. False, and no executor, where it does not, where there is nothing to choose, and where none
 * works. */
bool penstock__tune(struct penstock__executor **executor, struct penstock_device *device,
                    const struct penstock_problem *problem, unsigned slots);

#endif
