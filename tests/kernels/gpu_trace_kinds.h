/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kinds of transforms whose kernels are run on the host. */
#ifndef PENSTOCK_TEST_GPU_TRACE_KINDS_H
#define PENSTOCK_TEST_GPU_TRACE_KINDS_H

#include "backends/backend.h"

#define TRACE_MOST  8192 /* points */
#define TRACE_KINDS 23

/* Makes a problem, complete but for its kind, one of the kind; `hash` draws what there is to choose. */
typedef void trace_kind_of(struct penstock_fft_problem *fft, uint64_t hash);

struct trace_kind {
    const char *name;
    trace_kind_of *make;
};

extern const struct trace_kind trace_kinds[TRACE_KINDS];

/* Of n points. */
struct penstock_problem trace_problem(size_t n, const struct trace_kind *kind, uint64_t hash);

trace_kind_of trace_reversed, trace_half_storage, trace_columns, trace_plane, trace_global;

#endif
