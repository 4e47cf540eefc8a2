/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans made in a process of their own first, where the driver has to compile for them: penstock__rehearse(). */
#ifndef PENSTOCK_CORE_REHEARSAL_H
#define PENSTOCK_CORE_REHEARSAL_H

#include "backends/backend.h"

/* Around plan_init, in the thread that calls it: what penstock__rehearse() is about. */
void penstock__rehearsal_begin(const struct penstock_plan_state *plan, unsigned variant);
void penstock__rehearsal_end(void);

#endif
