/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What is asked for on a device, on the CPU where that fails, or on the CPU until it is ready: for plans, and for
 * operators that are made of several.
 *
 *     penstock__make(&thing, &build, ...)
 *     before each batch: if (penstock__async_build_collect(&build, &standby, context, &other)) go over to `other`,
 *     then penstock__went_over()
 *     around each batch: penstock__serve(), penstock__served()
 *     penstock__async_build_free(build)
 */
#ifndef PENSTOCK_CORE_CPU_WHILE_COMPILING_H
#define PENSTOCK_CORE_CPU_WHILE_COMPILING_H

#include "core/choice/standby.h"

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

/* Whether what was waited for is there, and on another device than that which works: the caller's then. The build is
 * freed and NULL once it is, or has failed, which is a log line. From then on a thing that "auto" has chosen the device
 * of is looked at again (core/choice/standby.h), and `*build` is another one where it should go over. */
bool penstock__async_build_collect(struct penstock__async_build **build, struct penstock__standby *standby,
                                   penstock_context *context, void **made);

/* The owner works on `device` from now on; tells the log. Or it could not, for the reason in the error text, and stays
 * where it is. */
void penstock__went_over(struct penstock__standby *standby, penstock_context *context, const char *device);
void penstock__stayed(struct penstock__standby *standby, penstock_context *context, const char *device);

/* Around a batch of `units`, of which the choice has timed one: of the CPU while something is being made, else of
 * whatever works. */
void penstock__serve(struct penstock__standby *standby, struct penstock__async_build *build);
void penstock__served(struct penstock__standby *standby, struct penstock__async_build *build, size_t units);

#endif
