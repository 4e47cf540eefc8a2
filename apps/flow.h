/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A signal's way from its source through a stream object of the library, block by block. */
#ifndef PENSTOCK_APPS_FLOW_H
#define PENSTOCK_APPS_FLOW_H

#include <penstock/penstock.h>

enum { FLOW_BLOCK = 65536 }; /* samples read at once */

/* The object's own calls; each returns a penstock_status. */
struct flow {
    penstock_source *source;
    void *owner; /* handed to the calls */
    int (*push)(void *owner, const void *samples, size_t count, size_t *taken);
    int (*pull)(void *owner, bool wait); /* delivers all that is ready; with `wait` also what is on its way */
    int (*finish)(void *owner);
};

/* All of the source, with progress on the terminal. Whatever fails, what was read before is delivered. Returns an exit
 * code. */
int flow_run(const struct flow *flow);

#endif
