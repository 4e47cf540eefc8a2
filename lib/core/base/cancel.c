/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A flag for each thread that makes something for another one. */
#include "core/base/cancel.h"
#include "backends/backend.h"
#include "core/base/process_exit.h"

#include <time.h>

#define LOOK_NS 5000000 /* between two looks at whether anybody still waits */

static _Thread_local const atomic_bool *own;

void penstock__cancel_by(const atomic_bool *flag)
{
    own = flag;
}

bool penstock__cancellable(void)
{
    return own;
}

const atomic_bool *penstock__cancel_flag(void)
{
    return own;
}

bool penstock__cancelled_by(const atomic_bool *flag)
{
    return flag && (atomic_load(flag) || penstock__exiting());
}

bool penstock__cancelled(void)
{
    return penstock__cancelled_by(own);
}

int penstock__cancellable_lock(pthread_mutex_t *lock)
{
    if (!own)
        return pthread_mutex_lock(lock) ? PENSTOCK_ERR_STATE : PENSTOCK_OK;
    while (pthread_mutex_trylock(lock)) {
        if (penstock__cancelled())
            return penstock__error(PENSTOCK_ERR_TIMEOUT, "nobody waits for it any more");
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return PENSTOCK_OK;
}
