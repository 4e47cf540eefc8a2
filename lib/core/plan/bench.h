/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Work with its samples on the device, for operators that have an executor of their own. */
#ifndef PENSTOCK_CORE_BENCH_H
#define PENSTOCK_CORE_BENCH_H

#include "core/plan/executor.h"

#include <penstock/bench.h>

struct penstock__bench_work {
    const void *in; /* `in_bytes`, a multiple of 16, repeated until there are `samples` */
    size_t in_bytes;
    struct penstock__batch batch; /* all but its in and out */
};

/* As penstock_bench_new(); `on_host`: also on a device that shares the host's memory. */
int penstock__bench_new(penstock_bench **bench, struct penstock__executor *executor,
                        const struct penstock__bench_work *work, bool on_host);

/* The same samples for another executor of the same problem and device. */
void penstock__bench_use(penstock_bench *bench, struct penstock__executor *executor);

/* Work that goes by way of a plan, whose executor may change: penstock_plan_enqueue(). */
typedef int penstock__bench_enqueue(penstock_plan *plan, const penstock_buffer *in, penstock_buffer *out, size_t frames,
                                    penstock_queue *queue);
void penstock__bench_use_plan(penstock_bench *bench, penstock_plan *plan, penstock__bench_enqueue *enqueue);

#endif
