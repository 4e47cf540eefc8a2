/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans that passed their check. */
#include "core/base/context.h"
#include "core/check/check.h"
#include "core/plan/problem_bytes.h"

#include <stdio.h>

static _Thread_local bool replacing;

void penstock__check_replaces(bool replaces)
{
    replacing = replaces;
}

uint64_t penstock__check_likeness(const struct penstock__executor *executor)
{
    const struct penstock_plan_state *state = &executor->state;
    char key[PENSTOCK__PROBLEM_KEY_BYTES + 256];
    if (state->problem->kind != PENSTOCK_PROBLEM_FFT || !state->problem->fft.window)
        return 0;
    size_t used = penstock__problem_key(key, state->problem);
    int more = snprintf(key + used, sizeof key - used, "%s %.128s", state->device->name, state->variant);
    return penstock__hash(key, used + (size_t)more) | 1;
}

bool penstock__check_passed(penstock_context *context, uint64_t likeness)
{
    for (unsigned i = 0; i < PENSTOCK__CHECKED; i++)
        if (replacing && likeness && atomic_load(&context->checked[i]) == likeness)
            return true;
    return false;
}

void penstock__check_remember(penstock_context *context, uint64_t likeness)
{
    if (likeness)
        atomic_store(&context->checked[atomic_fetch_add(&context->checked_count, 1) % PENSTOCK__CHECKED], likeness);
}
