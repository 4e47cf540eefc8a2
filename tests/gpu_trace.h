/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Runs a kernel's whole text on the host and counts what it does with memory. The text, in CUDA C, is compiled by the
 * C++ compiler that PENSTOCK_TEST_CXX names, with a call for each access to memory (what -fsanitize=thread gives), and
 * its work-items run in turns from one barrier to the next.
 */
#ifndef PENSTOCK_TEST_GPU_TRACE_H
#define PENSTOCK_TEST_GPU_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_trace {
    /* what to run */
    const char *text, *name; /* the source, and the kernel's name in it */
    const char *folder;      /* for the compiler's files */
    unsigned group[2];       /* work-items of a group */
    unsigned groups, rows;
    size_t local_bytes, in_bytes, out_bytes;
    const void *list, *factors, *table; /* read only; NULL or with bytes beside */
    size_t list_bytes, factor_bytes, table_bytes;
    uint32_t start, spacing;
    /* what came of it */
    uint16_t *loads, *stores; /* of each byte of in and out; gpu_trace_free() frees them */
    size_t overruns;          /* accesses to what is no kernel's business */
    unsigned ways;   /* of the work-items that access local memory at once, most in one bank's different places */
    size_t accesses; /* to local memory, of the first group */
};

/* False with the compiler's words printed. */
bool gpu_trace_run(struct gpu_trace *trace);
void gpu_trace_free(struct gpu_trace *trace);

#endif
