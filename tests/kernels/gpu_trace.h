/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Runs a kernel's whole text on the host and counts what it does with memory. The text, in CUDA C, is compiled by the
 * C compiler that PENSTOCK_TEST_CC names (PENSTOCK_TEST_CXX where it needs C++), with a call for each access to memory
 * (what -fsanitize=thread gives), and its work-items run in turns from one barrier to the next.
 */
#ifndef PENSTOCK_TEST_GPU_TRACE_H
#define PENSTOCK_TEST_GPU_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_TRACE_MEMORIES 5

/* Memory of the device, with what was done to each of its bytes. */
struct gpu_trace_memory {
    unsigned char *first;
    size_t bytes;
    uint16_t *loads, *stores;
    unsigned char *written; /* 1: it has a value */
    bool constant;          /* a store to it is an overrun */
};

/* Filled with `content`, or with nothing that may be read. NULL for want of memory. */
struct gpu_trace_memory *gpu_trace_memory_new(size_t bytes, const void *content);
void gpu_trace_memory_free(struct gpu_trace_memory *memory);

/* All counts are 0 again. */
void gpu_trace_memory_uncount(struct gpu_trace_memory *memory);

/* What it holds is nothing that may be read. */
void gpu_trace_memory_forget(struct gpu_trace_memory *memory);

struct gpu_trace {
    /* what to run */
    const char *text, *name; /* the source, and the kernel's name in it */
    const char *folder;      /* for the compiler's files */
    bool cxx;                /* the source is C++ */
    bool transform;          /* the kernel takes what kernels/fft.cl takes, else what those take that do more */
    unsigned group[2];       /* work-items of a group */
    unsigned groups, rows;
    size_t local_bytes, staged_bytes;                    /* of local memory, and of what waits there to become texels */
    struct gpu_trace_memory *memory[GPU_TRACE_MEMORIES]; /* the kernel's arguments in their order; NULL: none there */
    uint32_t start, spacing;                             /* arguments of kernels that do more */
    uint64_t plane;                                      /* and of a transform */
    int32_t first;
    /* what came of it */
    size_t overruns;   /* accesses to what is no kernel's business */
    size_t misaligned; /* accesses that are not at a multiple of their size */
    size_t unwritten;  /* bytes read that nothing was written to */
    size_t left;       /* of local memory, bytes read that the group had not written */
    size_t races;      /* accesses to local memory with no barrier after another work-item's, one of both a store */
    size_t splits;     /* barriers that work-items did not all come to */
    unsigned ways;   /* of the work-items that access local memory at once, most in one bank's different places; of the
                        first group and the last one */
    size_t accesses; /* to local memory, of these groups */
};

/* False with the compiler's words printed. */
bool gpu_trace_run(struct gpu_trace *trace);

/* Whether there is a compiler for C++. */
bool gpu_trace_has_cxx(void);

#endif
