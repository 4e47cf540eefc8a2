/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a stream call costs on a device by itself: one that does nothing but copy, as a peer. */
#ifndef PENSTOCK_APPS_COPY_STREAM_H
#define PENSTOCK_APPS_COPY_STREAM_H

#include "bench/bench_run.h"
#include "cases.h"

enum { SCHEDULER_CHUNK = 8192 }; /* samples at a time */

/* Measures `ours` beside a stream of `samples` complex samples that come out of the device as they went in. Returns an
 * exit code. */
int copy_stream_bench(struct bench_row *row, const struct case_target *target, const struct workload *ours,
                      const void *samples, size_t count);

#endif
