/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Probing a driver that may crash. */
#ifndef PENSTOCK_CORE_PROBE_H
#define PENSTOCK_CORE_PROBE_H

#include "backends/backend.h"

/* Whether a helper process could probe, open and close the backend's devices; else `reason` tells what came of it.
 * Without a helper the answer is true, with one log line. A crash is remembered in the cache folder until the driver
 * changes, a time-out by the process. */
bool penstock__probe_survives(penstock_context *context, const struct penstock_backend *backend, char reason[256]);

/* What the helper writes when it is through. */
#define PENSTOCK__PROBE_DONE "done\n"

#endif
