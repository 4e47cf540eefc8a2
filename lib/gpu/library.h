/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Drivers' libraries, opened at run time so that one binary serves machines with and without them. */
#ifndef PENSTOCK_GPU_LIBRARY_H
#define PENSTOCK_GPU_LIBRARY_H

#include "backends/backend.h"

/* A function of a library, and where in a struct of pointers it belongs. */
struct gpu_function {
    const char *name;
    size_t offset;
};

/* The first of `names`, which ends with NULL, that can be opened. NULL if none can: `reason` is then "NAME not found",
 * of the first one, or what the system's loader says of one that is there. */
void *penstock__gpu_library_open(const char *const *names, char reason[256]);

/* Adds the advice to a reason that says "not found". */
void penstock__gpu_library_advise(char reason[256], const char *advice);

/* Fills in the pointers of `api`. NULL, or the name of the first function that the library does not have. */
const char *penstock__gpu_library_find(void *api, void *library, const struct gpu_function *functions, size_t count);

/* What is loaded once and stays; a failure is tried again, since what was missing may have come. In a child after
 * fork() what the parent has loaded does not work. */
struct gpu_once {
    struct penstock_guard guard;
    unsigned forks;
    bool loaded;
};
#define GPU_ONCE                \
    {                           \
        .guard = PENSTOCK_GUARD \
    }

/* Whether it is there; if not, with a line in `reason`. */
bool penstock__gpu_once(struct gpu_once *once, bool (*load)(char reason[256]), char reason[256]);

#endif
