/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A device that is wanted for a problem, and its binding on the way: kernels may take seconds to compile, which a
 * thread of its own waits for, so that the CPU can serve meanwhile.
 */
#ifndef PENSTOCK_CORE_ARRIVAL_H
#define PENSTOCK_CORE_ARRIVAL_H

#include "core/binding.h"
#include "core/plan.h"

#include <stdatomic.h>

struct penstock__wanted {
    penstock_context *context;
    const struct penstock_problem *problem;
    unsigned slots;
    enum penstock_preference preference;
    const char *name; /* unless it is "auto" */
};

/* The device that is wanted, and no other instead. `overtaken`, or NULL: set by another thread once this one is no
 * longer waited for and the CPU serves, so that a measurement is not to be relied on. */
int penstock__wanted_bind(struct penstock__binding **binding, const struct penstock__wanted *wanted,
                          const atomic_bool *overtaken);

struct penstock__arrival;

/* Begins to bind; the problem must live until the arrival is freed, the name need not. */
int penstock__arrival_new(struct penstock__arrival **arrival, const struct penstock__wanted *wanted);

/* Whether it is there, or has failed; waits for it `seconds` at most. */
bool penstock__arrival_done(struct penstock__arrival *arrival, double seconds);

/* Once it is done: the binding, which is the caller's then, or the failure with its text. */
int penstock__arrival_take(struct penstock__arrival *arrival, struct penstock__binding **binding);

/* The CPU serves from now on. */
void penstock__arrival_overtake(struct penstock__arrival *arrival);

/* "cuda:0", "auto" */
const char *penstock__arrival_name(const struct penstock__arrival *arrival);

/* Waits for a compiler that is at work: none can be stopped. */
void penstock__arrival_free(struct penstock__arrival *arrival);

#endif
