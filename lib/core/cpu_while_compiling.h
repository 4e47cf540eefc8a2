/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What is asked for on a device, on the CPU where that fails, or on the CPU until it is ready: for plans, and for
 * operators that are made of several.
 *
 *     penstock__make(&thing, &build, ...)
 *     before each batch: if (penstock__async_build_collect(&build, context, &other)) go over to `other`
 *     penstock__async_build_free(build)
 */
#ifndef PENSTOCK_CORE_CPU_WHILE_COMPILING_H
#define PENSTOCK_CORE_CPU_WHILE_COMPILING_H

#include "core/async_build.h"

/*
 * A thing on the device that the text asks for. With "prefer:" a failure is a log line, and the thing is made on the
 * CPU. `*build` is NULL afterwards; but where the pointer itself is not NULL, and "auto" or "prefer:" takes longer
 * than some moments, the thing is on the CPU and the build that of the one on the device. With "auto" that is so at
 * once, and nothing is asked of any driver until the CPU has served for some moments. The maker's thread gets the
 * text as it is, so that "prefer:" is not an error there unless the maker makes it one.
 */
int penstock__make(void **made, struct penstock__async_build **build, const struct penstock__maker *maker, void *owner,
                   penstock_context *context, const char *device);

/* Whether the context lets the CPU begin for such a text. */
bool penstock__cpu_while_compiling(const penstock_context *context, const char *device);

/* Whether what was waited for is there, and on another device than the CPU: the caller's then. The build is freed and
 * NULL once it is, or has failed, which is a log line. */
bool penstock__async_build_collect(struct penstock__async_build **build, penstock_context *context, void **made);

#endif
