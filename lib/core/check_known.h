/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Plans with a window that passed their check. The window's values change while streams run, and the code is the same
 * with all of them: a plan that takes the place of one like it is checked by one frame of noise, so that a change takes
 * no longer than it must.
 */
#ifndef PENSTOCK_CORE_CHECK_KNOWN_H
#define PENSTOCK_CORE_CHECK_KNOWN_H

#include "core/executor.h"

/* What a plan is but for its window's values; 0: one without a window. */
uint64_t penstock__check_likeness(const struct penstock__executor *executor);

/* Until it is called with false, plans that this thread makes take the place of others. */
void penstock__check_replaces(bool replaces);

/* Whether it takes the place of one, and one like it passed in this context, of the last PENSTOCK__CHECKED ones. */
bool penstock__check_passed(penstock_context *context, uint64_t likeness);
void penstock__check_remember(penstock_context *context, uint64_t likeness);

#endif
