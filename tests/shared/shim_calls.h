/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The calls of a driver for tests (driver_shim.h), found in the library that an environment variable names. */
#ifndef PENSTOCK_TEST_SHIM_CALLS_H
#define PENSTOCK_TEST_SHIM_CALLS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct {
    void (*fail_at)(long k);
    void (*fail_from)(long k); /* NULL: a driver that has none */
    int (*lose)(void);         /* likewise */
    long (*pushes)(void);      /* likewise */
    void (*lose_gpu)(int gpu); /* likewise, as the next two */
    long (*launches)(int gpu);
    long (*copies)(int gpu);
    void (*gather_builds)(long count); /* likewise, as the next two */
    long (*most_builds)(void);
    long (*builds)(void);
    long (*left)(void);
    long (*live)(void);
    const char *(*broken_rule)(void); /* NULL: a driver that checks none */
} shim;

static inline bool shim_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol;
}

/* False where the variable names no driver for tests. */
static inline bool shim_load(const char *variable)
{
    const char *path = getenv(variable);
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    if (!library)
        return false;
    shim_find(library, "shim_fail_from", &shim.fail_from);
    shim_find(library, "shim_lose", &shim.lose);
    shim_find(library, "shim_pushes", &shim.pushes);
    shim_find(library, "shim_lose_gpu", &shim.lose_gpu);
    shim_find(library, "shim_launches", &shim.launches);
    shim_find(library, "shim_copies", &shim.copies);
    shim_find(library, "shim_gather_builds", &shim.gather_builds);
    shim_find(library, "shim_most_builds", &shim.most_builds);
    shim_find(library, "shim_builds", &shim.builds);
    shim_find(library, "shim_broken_rule", &shim.broken_rule);
    return shim_find(library, "shim_fail_at", &shim.fail_at) && shim_find(library, "shim_left", &shim.left) &&
           shim_find(library, "shim_live", &shim.live);
}

#endif
