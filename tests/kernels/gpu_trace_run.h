/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the files of gpu_trace.h share. */
#ifndef PENSTOCK_TEST_GPU_TRACE_RUN_H
#define PENSTOCK_TEST_GPU_TRACE_RUN_H

#include "gpu_trace.h"

#define GPU_TRACE_LOCAL  ((size_t)1 << 20) /* the most local memory that a kernel may have */
#define GPU_TRACE_STAGED ((size_t)1 << 18) /* and what waits to become texels, behind it */

/* A group begins; `counting`: its conflicts in banks are counted. False for want of memory. */
bool gpu_trace_local_begin(struct gpu_trace *trace, bool counting);

/* By `item`, at byte `at` of local memory. */
void gpu_trace_local_access(const void *instruction, unsigned item, size_t at, size_t bytes, bool store);

/* All work-items have come to a barrier: one of each warp (`warp`) or of the group. */
void gpu_trace_local_barrier(bool warp);

/* The group ends. */
void gpu_trace_local_end(void);

/* After the last group. */
void gpu_trace_local_free(void);

/* The kernel's function from a library that *code is then; NULL with words printed. */
void *gpu_trace_compile(const struct gpu_trace *trace, void **code);

#endif
