/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Drivers that may crash, hang or end the process, tried in a process of its own first: the devices of a backend, by
 * penstock__probe_devices(), and a plan on one of them, by penstock__probe_plan() of backends/services.h, which
 * backends call. What cancels the calling thread (penstock__cancelled()) ends that process, and nothing is told or
 * remembered.
 */
#ifndef PENSTOCK_PROBE_PROBE_H
#define PENSTOCK_PROBE_PROBE_H

#include "probe/result.h"

/*
 * What came of a helper process that asks for the backend's devices, opens each, runs a first kernel on it and closes
 * it. Without a helper nothing is wrong, with one log line. True where that was remembered: from this process, or, in
 * the cache folder, from another one, until the driver changes and a crash for an hour; not where it is asked for
 * `anew`.
 */
bool penstock__probe_devices(struct penstock__probe_result *result, penstock_context *context,
                             const struct penstock_backend *backend, bool anew);

/* Around plan_init, in the thread that calls it: the plan that penstock__probe_plan() is about. */
void penstock__trial_begin(const struct penstock_plan_state *plan, unsigned variant);
void penstock__trial_end(void);

#endif
