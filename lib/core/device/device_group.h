/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Several devices of one kind under one name: "cuda:*", "cuda:0,cuda:1". To the core a group is a device whose
 * executors are those of its members (core/plan/group_executor.c). It has no memory and no queue of its own.
 */
#ifndef PENSTOCK_CORE_DEVICE_GROUP_H
#define PENSTOCK_CORE_DEVICE_GROUP_H

#include "backends/backend.h"

/* Member `index` of a group, NULL past the last one; of another device it is the device itself. */
struct penstock_device *penstock__device_member(struct penstock_device *device, size_t index);

/* How many there are. */
static inline unsigned penstock__device_members(const struct penstock_device *device)
{
    return device && device->member_count ? (unsigned)device->member_count : 1;
}

/* Which of them `member` is; as many as there are where it is none. */
unsigned penstock__device_index(struct penstock_device *device, const struct penstock_device *member);

/* PENSTOCK_ERR_ARGUMENT where the device is several; `why` it must be one ("a buffer is on one"). */
int penstock__device_alone(const struct penstock_device *device, const char *why);

void penstock__groups_free(penstock_context *context);

#endif
