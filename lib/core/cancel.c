/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A flag for each thread that makes something for another one. */
#include "core/cancel.h"
#include "backends/backend.h"

static _Thread_local atomic_bool *own;

void penstock__cancel_by(atomic_bool *flag)
{
    own = flag;
}

bool penstock__cancellable(void)
{
    return own;
}

bool penstock__cancelled(void)
{
    return own && atomic_load(own);
}
