/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From the text that asks for a device to the executor that a plan begins with. */
#ifndef PENSTOCK_CORE_EXECUTOR_BEGIN_H
#define PENSTOCK_CORE_EXECUTOR_BEGIN_H

#include "core/chunk_queue.h"

/* Fills in what of `queue` depends on the device; its context, problem and slots are set. `cpu_while_compiling`: with
 * "auto" and "prefer:", what is not ready at once is waited for in flight, on the CPU. */
int penstock__executor_begin(struct penstock__chunk_queue *queue, const char *device, bool cpu_while_compiling);

#endif
