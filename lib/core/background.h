/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Threads of a context that wait for drivers: one may take seconds to answer, or never do. Who wants the answer waits
 * as long as it likes; who frees the context waits 2 s at most for one that is in a driver, and the last of these
 * threads frees the context instead.
 */
#ifndef PENSTOCK_CORE_BACKGROUND_H
#define PENSTOCK_CORE_BACKGROUND_H

#include "core/context.h"

/* With the context's table_lock. Runs `work(owner)` on a thread of its own, cancelled when the context is freed. False
 * where there is none to be had. */
bool penstock__background_start(penstock_context *context, void (*work)(void *owner), void *owner);

void penstock__table_changed_init(penstock_context *context);

/* With the table_lock: waits for a broadcast of table_changed, until `end_s` of penstock__now_s() at most. False once
 * that is over or the calling thread is cancelled. */
bool penstock__background_wait(penstock_context *context, double end_s);

/* Around what such a thread asks of a driver in this process, which nothing can end. */
void penstock__background_enter(penstock_context *context);
void penstock__background_leave(penstock_context *context);

/* In a child after fork(), which has none of these threads, with the table_lock: what was under way is asked anew. */
void penstock__background_renew(penstock_context *context);

/* For penstock_context_free(): cancels what is under way. False: threads are left, the last of which frees the context
 * by `destroy`. */
bool penstock__background_end(penstock_context *context, void (*destroy)(penstock_context *context));

#endif
