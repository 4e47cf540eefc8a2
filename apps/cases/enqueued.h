/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream, or two of which one's results are the other's items, with all of that in their device's memory. */
#ifndef PENSTOCK_APPS_CASES_ENQUEUED_H
#define PENSTOCK_APPS_CASES_ENQUEUED_H

#include "cases.h"

enum {
    ENQUEUED_CALLS = 4,
    ENQUEUED_SAMPLES = 1 << 25
}; /* calls of a run, and samples of a call, where none are said, */

/* or, of a stream that takes samples, 2^27 on a GPU by CUDA. */
size_t enqueued_samples(const struct case_target *target);

/* Times the same items as those of a stream that goes on, and a wait. The streams were just opened and stay the
 * caller's; `second`: or NULL; `in` has `items` of the first one. Returns an exit code. */
int enqueued_bench(const struct case_target *target, penstock_stream *first, penstock_stream *second, const void *in,
                   size_t items, struct bench_row *row);

#endif
