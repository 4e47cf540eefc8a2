/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Executors that belong together, made at once: where each has a kernel to be compiled, all are there when the one that
 * takes longest is. What another thread makes is made as by the one that asks: for its log user, cancelled with it, and
 * exit() waits for it. It is not timed there, nor does it take another one's place (core/check/check.h).
 */
#ifndef PENSTOCK_CORE_SIDE_BY_SIDE_H
#define PENSTOCK_CORE_SIDE_BY_SIDE_H

#include "backends/backend.h"

#define PENSTOCK__MOST_BESIDE 4

/* The device that a text names, opened, where what is made on it has kernels to be compiled; NULL for any other, for
 * one that cannot be had, and for "auto". An error only for want of memory. */
int penstock__compiled_for(struct penstock_device **device, penstock_context *context, const char *text);

/*
 * Calls make(owner, 0) to make(owner, count - 1), at most PENSTOCK__MOST_BESIDE. Where kernels are compiled for
 * `device`, which may be NULL, and its context may have threads, each but the first has one of its own, or its turn
 * afterwards where none is to be had, and all are called; else one after the other until one fails. The error is the
 * lowest number's.
 */
int penstock__side_by_side(int (*make)(void *owner, unsigned which), void *owner, unsigned count,
                           const struct penstock_device *device);

#endif
