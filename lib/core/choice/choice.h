/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* "auto": each candidate is timed, or its time remembered by the context or the cache folder, and the fastest is taken;
 * <penstock/choice.h> tells who wants to know. One choice of a context at a time, as two would disturb each other. */
#ifndef PENSTOCK_CORE_CHOICE_H
#define PENSTOCK_CORE_CHOICE_H

#include "core/choice/wisdom.h"

/* The devices among which it chooses for a problem: a rule of thumb, before anything is timed. */
#define PENSTOCK__MAX_CANDIDATES 16

struct penstock__candidates {
    struct penstock_device *devices[PENSTOCK__MAX_CANDIDATES]; /* the best rank first */
    int ranks[PENSTOCK__MAX_CANDIDATES];
    size_t count;
};

/* Opens the devices that it takes, and no others. Left out are a device that works on the processor's own cores where
 * "cpu" does the problem, and a GPU through another interface than its maker's where that one does it. One that fails
 * is left out with a log line. The device table is filled. `problem` NULL: for what any device may do in parts. */
void penstock__candidates_find(struct penstock__candidates *list, penstock_context *context,
                               const struct penstock_problem *problem);

/* Why a device is no candidate; false where it is one. `problem` NULL: as far as that can be told without one. */
bool penstock__candidate_excluded(char why[128], struct penstock_device *device,
                                  const struct penstock_problem *problem);

/* A warning that "auto" does without a device, for the reason in this thread's error text. */
void penstock__candidate_failed(const struct penstock_device *device);

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

/* The same, as "prefer:" the device that is chosen: for owners of which more than a plan is made there. */
int penstock__choice_prefer(char device[64], const struct penstock__choice *choice);

#endif
