/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * SIGINT, SIGTERM and SIGHUP ask for the end in good order; a second one ends the program at once. A thread of its own
 * waits for them. It stops what is read, and where the work does not come to its end soon, as it waits for a driver or
 * a compiler, say, the thread concludes it: writes what there is, and ends the program.
 */
#ifndef PENSTOCK_APPS_INTERRUPT_H
#define PENSTOCK_APPS_INTERRUPT_H

#include <penstock/penstock.h>

/* Once, before there are other threads. Without it there are no interrupts. */
void interrupt_start(void);

/* From now on an interrupt stops `source` (NULL: none). Set to NULL before the source is freed. */
void interrupt_watch(penstock_source *source);

bool interrupted(void);

/* Where an interrupt has left work undone, tells of it. Returns `code`: to be interrupted is no fault. */
int interrupt_tell(int code);

/* How the work is concluded: `conclude` writes what there is and returns an exit code. NULL: there is nothing to write,
 * and the program ends with `code`. `conclude` is called on the thread of the interrupt, between interrupt_hold() and
 * interrupt_release(). */
void interrupt_conclude_by(int (*conclude)(void *owner), void *owner, int code);

/* Around all that changes what `conclude` uses: outputs and what goes to them. */
void interrupt_hold(void);
void interrupt_release(void);

/* The work is over, with this exit code: outputs are released from here on, and by this thread alone. May be called
 * twice. */
void interrupt_end(int code);

/* As the latter two around `conclude` on this thread, which gets the time that it needs. `conclude` is done then. */
int interrupt_conclude(int (*conclude)(void *owner), void *owner);

#endif
