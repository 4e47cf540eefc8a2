/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Threads of a context that wait for drivers: one may take seconds to answer, or never do. Who wants the answer waits
 * as long as it likes; who frees the context waits 2 s at most for one that is in a driver, and the last of these
 * threads frees the context instead.
 *
 * One of them frees objects whose end may have to wait: for a compiler that is at work for them, for memory that the
 * driver takes back, for the driver's own lock. Who frees such a one waits 20 ms at most, so that most are freed when
 * the call returns. They are freed one after the other, in the order in which they were left, and what is made on a
 * device after that waits for its turn: no more memory is in use than if each call had waited. Who frees the context
 * waits for them, 20 s at most.
 */
#ifndef PENSTOCK_CORE_BACKGROUND_H
#define PENSTOCK_CORE_BACKGROUND_H

#include "core/base/context.h"

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

/* What is freed in this context from now on may have to wait for a driver. */
void penstock__background_has_driver(penstock_context *context);

/* Calls `free_object(object)` here or, where it may have to wait, on the thread for that. Nobody uses the object any
 * more, all that is made for it is cancelled, and none of that logs once this returns. */
void penstock__background_free(penstock_context *context, void (*free_object)(void *object), void *object);

/* Before memory of the device is taken: until all that was left by now is freed, 2 s at most, or the calling thread is
 * cancelled. */
void penstock__background_await_freed(const struct penstock_device *device);

/* In a child after fork(), which has none of these threads, with the table_lock: what was under way is asked anew. */
void penstock__background_renew(penstock_context *context);

/* For penstock_context_free(): cancels what is under way. False: threads are left, the last of which frees the context
 * by `destroy`. */
bool penstock__background_end(penstock_context *context, void (*destroy)(penstock_context *context));

#endif
