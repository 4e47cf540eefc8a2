/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The list of backends. */
#ifndef PENSTOCK_CORE_BACKENDS_H
#define PENSTOCK_CORE_BACKENDS_H

#include "backends/backend.h"

struct penstock__backend_entry {
    const char *name;
    const struct penstock_backend *backend; /* NULL: left out of this build */
    const char *why_not;                    /* NULL, or why it was left out */
};

extern const struct penstock__backend_entry penstock__backends[];
extern const size_t penstock__backend_count;

/* NULL if there is none of that name in this build. */
const struct penstock_backend *penstock__backend_find(const char *name);

#endif
