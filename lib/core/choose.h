/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* "auto": the device that is fastest by measurement. */
#ifndef PENSTOCK_CORE_CHOOSE_H
#define PENSTOCK_CORE_CHOOSE_H

#include "core/executor.h"

/* Binds the problem to the device that did its usual batch fastest, transfers included: as remembered by the context,
 * by the cache folder, or measured now. `in_flight` batches are on their way at once when
 * that is measured; 1: each is waited for. A device that fails is left out with a log line. */
int penstock__choose(struct penstock__executor **executor, penstock_context *context,
                     const struct penstock_problem *problem, unsigned slots, unsigned in_flight);

#endif
