/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The devices among which "auto" chooses for a problem: a rule of thumb, before anything is timed. */
#ifndef PENSTOCK_CORE_CANDIDATES_H
#define PENSTOCK_CORE_CANDIDATES_H

#include "backends/backend.h"

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

#endif
