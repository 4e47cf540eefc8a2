/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Threads of the library's own, and conditions that are waited for until a time by the monotonic clock, which nobody
 * sets. */
#ifndef PENSTOCK_CORE_THREAD_H
#define PENSTOCK_CORE_THREAD_H

#include <pthread.h>
#include <time.h>

/* As pthread_create(), with all signals blocked but those of faults: the application's signals are for the
 * application's threads, while a fault is its thread's own, and a handler of it shall run. 0, or an errno. */
int penstock__thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *argument),
                            void *argument);

void penstock__condition_init(pthread_cond_t *condition);

/* So many seconds from now, 0 or more, for pthread_cond_timedwait() on such a condition. */
struct timespec penstock__deadline(double seconds);

#endif
