/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Probing a driver that may crash. */
#ifndef PENSTOCK_CORE_PROBE_H
#define PENSTOCK_CORE_PROBE_H

#include "core/verdict.h"

/*
 * What came of a helper process that asks for the backend's devices, opens each, runs a first kernel on it and closes
 * it. Without a helper nothing is wrong, with one log line. True where that was remembered: from this process, or, in
 * the cache folder, from another one, until the driver changes and a crash for an hour; not where it is asked for
 * `anew`.
 */
bool penstock__probe(struct penstock__verdict *verdict, penstock_context *context,
                     const struct penstock_backend *backend, bool anew);

#endif
