/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The end of a process that has not freed its contexts. A driver's thread that is at work then would crash: the static
 * data of its libraries is destroyed under it. exit() cancels what can be cancelled, and waits for such threads, 20 s
 * at most.
 */
#ifndef PENSTOCK_CORE_PROCESS_EXIT_H
#define PENSTOCK_CORE_PROCESS_EXIT_H

#include <stdbool.h>

/* By who makes a context. The library stays loaded until the thread ends, where that is the main thread. */
void penstock__exit_awaits(void);

/* Around all that a driver's thread does, and what any other has a driver compile. */
void penstock__exit_hold(void);
void penstock__exit_release(void);

/* In a thread that one waits for which holds: what it does is held with that one's, until it ends. */
void penstock__exit_held(void);

/* Whether the process ends. */
bool penstock__exiting(void);

/* In a child after fork(), which has none of these threads but the one that calls this. */
void penstock__exit_renew(void);

#endif
