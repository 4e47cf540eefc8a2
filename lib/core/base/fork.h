/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * fork(): what a child may do with what it inherited. The child has one thread. Locks that are held for a moment are
 * taken around the fork, so that what they guard is whole in the child; those that are held while something long runs
 * are made anew there. Threads of the pool are started again by the first loop. Devices whose driver does not outlive a
 * fork get a backend that says so.
 */
#ifndef PENSTOCK_CORE_FORK_H
#define PENSTOCK_CORE_FORK_H

#include "core/base/context.h"

/* From now on forks take care of the context, and no more. */
int penstock__fork_add(penstock_context *context);
void penstock__fork_remove(penstock_context *context);

/* For penstock__fork_add(): around the fork, and what is left of it in a child, with the lock. */
void penstock__pool_lock(struct penstock__pool *pool);
void penstock__pool_unlock(struct penstock__pool *pool);
void penstock__pool_renew(struct penstock__pool *pool);

/* In the place of the backend of a device that was opened, or found, by an ancestor: each call is an error, and freeing
 * leaves to the driver what is the driver's. */
extern const struct penstock_backend penstock__gone_backend;
extern const char penstock__gone_reason[];

/* Whether the device is such a one. */
static inline bool penstock__device_gone(const struct penstock_device *device)
{
    return device->backend == &penstock__gone_backend;
}

#endif
