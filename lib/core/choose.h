/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* "auto": the device that is fastest by measurement. */
#ifndef PENSTOCK_CORE_CHOOSE_H
#define PENSTOCK_CORE_CHOOSE_H

#include "core/binding.h"

/* Binds the problem to the device that did its usual batch fastest, transfers included: as remembered by the context,
 * by the cache folder, or measured now. A device that fails is left out with a log line. The answer does not go
 * to the cache folder where the processor has other work beside the measurement: penstock__overtaken(). */
int penstock__choose(struct penstock__binding **binding, penstock_context *context,
                     const struct penstock_problem *problem, unsigned slots);

#endif
