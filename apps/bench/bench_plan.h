/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A plan that is timed with its samples in a device's memory. */
#ifndef PENSTOCK_APPS_BENCH_PLAN_H
#define PENSTOCK_APPS_BENCH_PLAN_H

#include <penstock/bench.h>
#include <penstock/plan.h>

/* Frames of it, a multiple of the plan's average, without gaps between them. */
struct bench_plan {
    penstock_plan *plan;
    size_t frames, average;
    size_t in_bytes, out_bytes; /* filled in */
};

/* Which lives as long as the object, with samples that the device repeats: `block_bytes`, a multiple of 16. */
int bench_plan_new(penstock_bench **on_device, penstock_context *context, struct bench_plan *work, const void *block,
                   size_t block_bytes);

#endif
