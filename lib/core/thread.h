/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A thread of the library's own. */
#ifndef PENSTOCK_CORE_THREAD_H
#define PENSTOCK_CORE_THREAD_H

#include <pthread.h>

/* As pthread_create(), with all signals blocked but those of faults: the application's signals are for the
 * application's threads, while a fault is its thread's own, and a handler of it shall run. 0, or an errno. */
int penstock__thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *argument),
                            void *argument);

#endif
