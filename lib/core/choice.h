/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* "auto": each candidate is timed, or its time remembered by the context or the cache folder, and the fastest is taken;
 * <penstock/choice.h> tells who wants to know. One choice of a context at a time, as two would disturb each other. */
#ifndef PENSTOCK_CORE_CHOICE_H
#define PENSTOCK_CORE_CHOICE_H

#include "core/candidates.h"
#include "core/wisdom.h"

struct penstock__choice {
    penstock_context *context;
    const struct penstock_problem *problem; /* that a candidate must do; NULL: as penstock__candidates_find() */
    const char *kind;                       /* of the question */
    const char *unit;                       /* whose seconds are compared: "frame" */
    void *owner;                            /* of these: */
    /* What the times depend on, beside the candidates and their drivers. */
    void (*ask)(void *owner, struct penstock__question *question, const struct penstock__candidates *list);
    int (*time)(void *owner, struct penstock_device *device, double *seconds);
    /* Of what was timed last: whether it is the fastest so far. Or NULL. */
    void (*keep)(void *owner, bool fastest);
    /* The device that is chosen without timing: nothing else can do it, or it is remembered. Or NULL. */
    int (*take)(void *owner, struct penstock_device *device);
};

/* A candidate that fails is left out with a log line, and the answer is then not remembered. PENSTOCK_ERR_TIMEOUT once
 * nobody waits any more. */
int penstock__choice_make(struct penstock_device **device, const struct penstock__choice *choice);

#endif
