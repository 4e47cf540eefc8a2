/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The devices that check and bench work on. */
#ifndef PENSTOCK_APPS_TARGETS_H
#define PENSTOCK_APPS_TARGETS_H

#include "command.h"

enum { TARGET_NAME = 32, MOST_TARGETS = 32 };

struct targets {
    char names[MOST_TARGETS][TARGET_NAME];
    size_t count;
};

/* The devices named by `arguments` (a name, a kind, a piece of a product's name, "auto"), or without any all that are
 * present, less "null" and "trace", which do not compute. Returns an exit code. */
int targets_find(struct targets *targets, penstock_context *context, const char *const *arguments);

/* Adds those whose drivers have answered since. Returns an exit code. */
int targets_more(struct targets *targets, penstock_context *context);

/* A warning for each kind whose driver has not: "opencl is not checked: ..." */
void targets_warn(penstock_context *context, const char *what);

/* Whether that is a name of several devices: "cuda:*", "cuda:0,cuda:1", "cuda:0+1". */
bool targets_are_several(const char *device);

/* CPUs that this process may run on. */
unsigned usable_cpus(void);

#endif
