/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Functions of libraries that are opened at run time. */
#ifndef PENSTOCK_APPS_LIBRARY_H
#define PENSTOCK_APPS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function's name, and where the pointer to it goes in a table; NULL ends a list. */
struct library_function {
    const char *name;
    size_t offset;
};

/* Opens the first of `names` (ended by NULL) that is there and fills the table. NULL, having told what is missing and
 * `advice`. The library stays open: drivers do not bear being unloaded. */
void *library_load(const char *const *names, const char *advice, const struct library_function *functions, void *table);

/* Fills a table with more functions of it; false, having told which one is missing in `name`. */
bool library_look_up(void *library, const char *name, const struct library_function *functions, void *table);

#endif
