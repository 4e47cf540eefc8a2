/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Around fork(): the locks of all contexts, and in the child what is left of them. */
#include "core/base/fork.h"
#include "core/device/backends.h"
#include "core/device/background.h"

#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before any other of these */
static penstock_context *contexts;
static struct penstock_guard *guards;
static atomic_uint forks;

/* ---------------------------------------------------------------- around ---------------------- */

static void lock_all(void)
{
    pthread_mutex_lock(&list_lock);
    for (struct penstock_guard *guard = guards; guard; guard = guard->following)
        if (guard->awaited)
            pthread_mutex_lock(&guard->lock);
    for (penstock_context *context = contexts; context; context = context->following) {
        penstock__pool_lock(context->pool);
        pthread_mutex_lock(&context->host_lock);
        pthread_mutex_lock(&context->wisdom_lock);
        pthread_mutex_lock(&context->table_lock);
    }
}

static void unlock_all(void)
{
    for (penstock_context *context = contexts; context; context = context->following) {
        pthread_mutex_unlock(&context->table_lock);
        pthread_mutex_unlock(&context->wisdom_lock);
        pthread_mutex_unlock(&context->host_lock);
        penstock__pool_unlock(context->pool);
    }
    for (struct penstock_guard *guard = guards; guard; guard = guard->following)
        if (guard->awaited)
            pthread_mutex_unlock(&guard->lock);
    pthread_mutex_unlock(&list_lock);
}

/* ---------------------------------------------------------------- in the child ---------------- */

/* What a driver has behind a present device, its threads among it, stayed with the parent. */
static void renew_device(struct penstock_device *device)
{
    if (!device->backend || device->backend->flags & PENSTOCK_BACKEND_FORKS || penstock__device_gone(device) ||
        *device->reason)
        return;
    device->backend = &penstock__gone_backend;
    snprintf(device->reason, sizeof device->reason, "%s", penstock__gone_reason);
}

/* These may have been held by threads that are not here. What they guard is taken up where it was not finished. */
static void renew_context(penstock_context *context)
{
    pthread_mutex_t *const held_long[] = {&context->log_lock, &context->choice_lock, &context->tune_lock};
    for (size_t i = 0; i < sizeof held_long / sizeof *held_long; i++)
        pthread_mutex_init(held_long[i], NULL);
    penstock__pool_renew(context->pool);
    penstock__background_renew(context);
    for (size_t kind = 0; kind < penstock__backend_count; kind++)
        for (size_t i = 0; i < context->kinds[kind].count; i++)
            renew_device(&context->kinds[kind].rows[i]);
}

static void renew_guard(struct penstock_guard *guard)
{
    if (guard->lost || guard->awaited)
        return;
    if (pthread_mutex_trylock(&guard->lock))
        guard->lost = true;
    else
        pthread_mutex_unlock(&guard->lock);
}

static void begin_child(void)
{
    atomic_fetch_add(&forks, 1);
    for (struct penstock_guard *guard = guards; guard; guard = guard->following)
        renew_guard(guard);
    for (penstock_context *context = contexts; context; context = context->following)
        renew_context(context);
    unlock_all();
}

/* ---------------------------------------------------------------- who takes part -------------- */

static bool attending;

static void attend(void)
{
    attending = !pthread_atfork(lock_all, unlock_all, begin_child);
}

int penstock__fork_add(penstock_context *context)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* one that a fork cuts short begins anew in the child */
    pthread_once(&once, attend);
    if (!attending)
        return penstock__error(PENSTOCK_ERR_MEMORY, "out of memory for what is done around fork()");
    pthread_mutex_lock(&list_lock);
    context->following = contexts;
    contexts = context;
    pthread_mutex_unlock(&list_lock);
    return PENSTOCK_OK;
}

void penstock__fork_remove(penstock_context *context)
{
    pthread_mutex_lock(&list_lock);
    for (penstock_context **link = &contexts; *link; link = &(*link)->following)
        if (*link == context) {
            *link = context->following;
            break;
        }
    pthread_mutex_unlock(&list_lock);
}

/* ---------------------------------------------------------------- for others ------------------ */

unsigned penstock__forks(void)
{
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

int penstock__forked(unsigned number, const char *what)
{
    return number == penstock__forks()
               ? PENSTOCK_OK
               : penstock__error(
                     PENSTOCK_ERR_STATE,
                     "%s was opened before this process was forked, and belongs to the process that opened it", what);
}

static void enlist(struct penstock_guard *guard)
{
    pthread_mutex_lock(&list_lock);
    if (!atomic_load(&guard->listed)) {
        guard->following = guards;
        guards = guard;
        atomic_store(&guard->listed, true);
    }
    pthread_mutex_unlock(&list_lock);
}

bool penstock__guard(struct penstock_guard *guard)
{
    if (!atomic_load(&guard->listed))
        enlist(guard);
    if (guard->lost)
        return false;
    pthread_mutex_lock(&guard->lock);
    return true;
}

void penstock__unguard(struct penstock_guard *guard)
{
    pthread_mutex_unlock(&guard->lock);
}
