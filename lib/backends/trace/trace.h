/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What the trace backend counts and does on request, for tests. Its device computes on the cpu backend, but has
 * memory of its own and works as late as the contract allows: within wait. There are as many as PENSTOCK_TRACE_DEVICES
 * says, one without it.
 */
#ifndef PENSTOCK_TRACE_H
#define PENSTOCK_TRACE_H

#include "backends/backend.h"

/* Calls so far that can fail. */
long penstock__trace_calls(void);

/* The k-th such call from now on (0 is the next) fails, once; or all from it on do; k < 0: none. */
void penstock__trace_fail_at(long k);
void penstock__trace_fail_from(long k);

/* Objects that were made and not yet freed, and calls that broke the contract; what the first of these was. */
long penstock__trace_live(void);
long penstock__trace_violations(void);
const char *penstock__trace_violation_text(void);

#endif
