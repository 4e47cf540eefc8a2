/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Work that nobody waits for any more: penstock__cancelled() of backends/services.h. */
#ifndef PENSTOCK_CORE_CANCEL_H
#define PENSTOCK_CORE_CANCEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The calling thread's work is cancelled once `flag` is true; NULL: it never is. */
void penstock__cancel_by(const atomic_bool *flag);

/* Whether it may be. */
bool penstock__cancellable(void);

/* Takes a lock under which something long runs; PENSTOCK_ERR_TIMEOUT, without it, once the work is cancelled. */
int penstock__cancellable_lock(pthread_mutex_t *lock);

#endif
