/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A signal's way from its source through a stream object of the library, block by block, and to its end. */
#ifndef PENSTOCK_APPS_FLOW_H
#define PENSTOCK_APPS_FLOW_H

#include <penstock/penstock.h>

/* Of samples read at once from a file, at first; and values pulled at once, which one thread goes through. */
enum { FLOW_FIRST_BYTES = 1 << 19, FLOW_VALUES = 1 << 18 };

/* Of samples, at most: enough for the threads of all processors, and no more, as caches hold it. Cases of bench push as
 * many. */
size_t flow_most_bytes(void);

/* How many bytes to read next, as the way of the last `bytes` has taken so long: more where that was a moment, fewer
 * where progress and an interrupt would have to wait. */
size_t flow_next_block(size_t bytes, double took_s, size_t most);

/* The object's own calls; the first three return a penstock_status. */
struct flow {
    penstock_source *source;
    void *owner; /* handed to the calls */
    int (*push)(void *owner, const void *samples, size_t count, size_t *taken);
    int (*pull)(void *owner, bool wait); /* delivers all that is ready; with `wait` also what is on its way. Writes
                                            between interrupt_hold() and interrupt_release() */
    int (*finish)(void *owner);
    int (*conclude)(void *owner, int code); /* makes the outputs whole and tells of them; `code` is that of the reading.
                                               Returns an exit code */
};

/* All of the source, with progress on the terminal. The flow is concluded where all is well, and where what was read is
 * all that there is: after an interrupt, or a failure of the source. Before anything was read nothing is concluded, nor
 * where the stream object or an output failed. Returns an exit code. */
int flow_run(const struct flow *flow);

#endif
