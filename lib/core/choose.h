/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* "auto": the device that is fastest by measurement. */
#ifndef PENSTOCK_CORE_CHOOSE_H
#define PENSTOCK_CORE_CHOOSE_H

#include "core/binding.h"

/* Binds the problem to the device that did its usual batch fastest, transfers included: as remembered by the context,
 * by the cache folder, or measured now. A device that fails is left out with a log line. Where
 * the CPU serves meanwhile, what it does so counts to what it can do: penstock__arrival_serve(). */
int penstock__choose(struct penstock__binding **binding, penstock_context *context,
                     const struct penstock_problem *problem, unsigned slots);

#endif
