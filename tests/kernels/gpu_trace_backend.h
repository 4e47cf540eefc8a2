/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A backend whose kernels are those of lib/gpu, run on the host by gpu_trace.h: plans, launches, scratch memory and the
 * parts of planes are the library's own. Of each launch it counts what is not as it should be.
 */
#ifndef PENSTOCK_TEST_GPU_TRACE_BACKEND_H
#define PENSTOCK_TEST_GPU_TRACE_BACKEND_H

#include "backends/backend.h"
#include "gpu/launch_config.h"

/* What a run found, all plans and launches of it together. */
struct trace_findings {
    unsigned kernels, passes; /* that ran; the most that a part of a plan has */
    size_t loads;             /* bytes of samples not loaded as often as they must be */
    size_t stores;            /* bytes of values not stored once */
    size_t between;           /* bytes of scratch memory not stored once or not loaded once */
    size_t overruns, misaligned, unwritten, races, splits;
    unsigned measured;  /* the most ways that were counted */
    unsigned conflicts; /* kernels whose ways differ from what the plan declares */
    unsigned ways;      /* the most that were declared */
};

/* A fault that is put into the text of a kernel, to see that it is found. */
struct trace_fault {
    const char *from, *to; /* text that comes first where there is none: "" */
    unsigned found;        /* places where `from` was */
};

struct trace_run {
    penstock_context *context;
    const char *folder; /* for the compiler's files */
    struct gpu_limits limits;
    unsigned variant;
    size_t frames;
    struct trace_fault *fault; /* or NULL */
};

/* Makes a plan of the problem and runs it once. PENSTOCK_ERR_UNSUPPORTED where there is none, or no compiler for it. */
int trace_fft(struct trace_findings *findings, const struct penstock_problem *problem, const struct trace_run *run);

#endif
