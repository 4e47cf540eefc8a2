/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A problem bound to several devices: an executor of each, and slots that are handed out to them in turns, so that who
 * takes slots in order has results in order. Where a member fails, what was on its way there is done again by those
 * that are left, with one log line; the last one's failure is the executor's.
 */
#ifndef PENSTOCK_CORE_GROUP_EXECUTOR_H
#define PENSTOCK_CORE_GROUP_EXECUTOR_H

#include "core/executor.h"

/* Batches that each member did. */
const penstock_device_work *penstock__group_shares(const struct penstock__group_executor *group, size_t *count);

#endif
