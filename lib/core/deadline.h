/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Conditions that are waited for until a time by the monotonic clock, which nobody sets. */
#ifndef PENSTOCK_CORE_DEADLINE_H
#define PENSTOCK_CORE_DEADLINE_H

#include <pthread.h>
#include <time.h>

void penstock__condition_init(pthread_cond_t *condition);

/* So many seconds from now, 0 or more, for pthread_cond_timedwait() on such a condition. */
struct timespec penstock__deadline(double seconds);

#endif
