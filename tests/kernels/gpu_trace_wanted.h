/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How often a plan must load each sample and store each value, from what the plan is and not from its kernels. */
#ifndef PENSTOCK_TEST_GPU_TRACE_WANTED_H
#define PENSTOCK_TEST_GPU_TRACE_WANTED_H

#include "gpu/launch.h"
#include "gpu_trace.h"

/* One launch of a plan's pass. */
struct trace_launch {
    const struct gpu_decomposition *decomposition;
    const struct penstock_fft_problem *fft;
    const struct penstock_gather *gather; /* or NULL */
    struct gpu_step step;
    size_t samples; /* of the job */
};

/* How often each byte of a memory is to be touched. */
struct trace_want {
    uint16_t *times;
    size_t bytes;
    size_t outside; /* pieces that are not in the memory at all: the plan's launch is not for it */
};

/* Adds what the launch must load of, or store to, its memory. */
void trace_want_loads(struct trace_want *want, const struct trace_launch *launch);
void trace_want_stores(struct trace_want *want, const struct trace_launch *launch);

#endif
