/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What is asked for on a device, on the CPU where that fails, or on the CPU until it is ready: for plans, and for
 * operators that are made of several.
 *
 *     penstock__make(&thing, &arrival, ...)
 *     before each batch: if (penstock__welcome(&arrival, context, &other)) go over to `other` between two batches
 *     penstock__arrival_free(arrival)
 */
#ifndef PENSTOCK_CORE_MEANWHILE_H
#define PENSTOCK_CORE_MEANWHILE_H

#include "core/arrival.h"

/*
 * A thing on the device that the text asks for. With "prefer:" a failure is a log line, and the thing is made on the
 * CPU. `*arrival` is NULL afterwards; but where the pointer itself is not NULL, and "auto" or "prefer:" takes longer
 * than some moments, the thing is on the CPU and the arrival that of the one on the device. With "auto" that is so at
 * once, and nothing is asked of any driver until the CPU has served for some moments. The maker's thread gets the
 * text as it is, so that "prefer:" is not an error there unless the maker makes it one.
 */
int penstock__make(void **made, struct penstock__arrival **arrival, const struct penstock__maker *maker, void *owner,
                   penstock_context *context, const char *device);

/* Whether the context lets the CPU begin for such a text. */
bool penstock__serves_meanwhile(const penstock_context *context, const char *device);

/* Whether what was waited for is there, and on another device than the CPU: the caller's then. The arrival is freed and
 * NULL once it is, or has failed, which is a log line. */
bool penstock__welcome(struct penstock__arrival **arrival, penstock_context *context, void **made);

#endif
