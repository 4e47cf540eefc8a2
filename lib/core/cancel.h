/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Work that nobody waits for any more: penstock__cancelled() of backends/backend.h. */
#ifndef PENSTOCK_CORE_CANCEL_H
#define PENSTOCK_CORE_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>

/* The calling thread's work is cancelled once `flag` is true; NULL: it never is. */
void penstock__cancel_by(atomic_bool *flag);

/* Whether it may be. */
bool penstock__cancellable(void);

#endif
