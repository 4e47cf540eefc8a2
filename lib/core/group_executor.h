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

/* Adds the members to a new executor, `slots` for each; their share of its slots is its `slot_count`. A member that
 * does not do it is left out with a log line; an error where none does. */
int penstock__group_bind(struct penstock__executor *executor, unsigned slots);
void penstock__group_free(struct penstock__group_executor *group);

/* As those of an executor. */
int penstock__group_submit(struct penstock__group_executor *group, unsigned slot, const struct penstock__batch *batch);
int penstock__group_wait(struct penstock__group_executor *group, unsigned slot);
void penstock__group_close(struct penstock__group_executor *group);
struct penstock__executor *penstock__group_on(struct penstock__group_executor *group,
                                              const struct penstock_device *device);
bool penstock__group_spares(const struct penstock__group_executor *group);

/* Batches that each member did. */
const penstock_device_work *penstock__group_shares(const struct penstock__group_executor *group, size_t *count);

#endif
