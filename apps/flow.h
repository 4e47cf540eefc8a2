/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A signal's way from its source through a stream object of the library, block by block, and to its end. */
#ifndef PENSTOCK_APPS_FLOW_H
#define PENSTOCK_APPS_FLOW_H

#include <penstock/penstock.h>

enum { FLOW_VALUES = 1 << 18 }; /* pulled at once: one thread goes through them */

/* Of what is complete, where samples come as a radio or a program gives them: who reads the output waits, too. */
#define FLOW_LATENCY_S 0.1

/* Of samples read at once from a file, at most: enough for the threads of all processors, and no more, as caches hold
 * it. Cases of bench push as many. */
size_t flow_most_bytes(void);

/* A source's samples, block by block: the next one has more where the way of the last one, from read to read, was a
 * moment, and fewer where progress and an interrupt would have to wait. */
struct flow_blocks {
    penstock_source *source;
    void *samples;
    size_t sample_bytes, bytes, most;
    double since_s; /* the last read's end; 0: there was none */
};

bool flow_blocks_init(struct flow_blocks *blocks, penstock_source *source, penstock_format format); /* false: memory */
int flow_blocks_read(struct flow_blocks *blocks, size_t *count); /* as penstock_source_read() */
void flow_blocks_free(struct flow_blocks *blocks);

/* Why nothing was read from a source that reported no error. Returns an exit code. */
int flow_nothing_read(void);

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
