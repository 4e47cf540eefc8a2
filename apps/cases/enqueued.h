/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream, or two of which one's results are the other's items, with all of that in their device's memory. */
#ifndef PENSTOCK_APPS_CASES_ENQUEUED_H
#define PENSTOCK_APPS_CASES_ENQUEUED_H

#include "cases.h"

enum {
    ENQUEUED_CALLS = 4,
    ENQUEUED_SAMPLES = 1 << 25
}; /* calls of a run, and samples of a call, where none are said */

struct enqueued {
    penstock_stream *first, *second; /* `second`: or NULL */
    size_t items;                    /* of a call */
    penstock_queue *queue;
    penstock_buffer *in, *between, *out;
};

/* The streams were just opened and stay the caller's; `in` has `items` of the first one. A library status; closed in
 * either case. */
int enqueued_open(struct enqueued *enqueued, const struct case_target *target, penstock_stream *first,
                  penstock_stream *second, const void *in, size_t items);
void enqueued_close(struct enqueued *enqueued);

/* As a workload: the same items, as those of a stream that goes on, and a wait. */
int enqueued_run(void *enqueued);

#endif
