/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Runs the PTX of a kernel on the host, for one work-group: all work-items do an instruction, then all do the next. So
 * all take the same branches, or it is an error, as is an instruction that is not known here, a float that nobody
 * wrote, an access out of bounds or not aligned, and, in shared memory, one that another work-item's access since the
 * last barrier makes a race.
 */
#ifndef PENSTOCK_TEST_PTX_RUN_H
#define PENSTOCK_TEST_PTX_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_PARAMETERS 8

struct ptx_memory {
    float *value;
    unsigned char *stores; /* how often each was stored; NULL: it is only read */
    size_t count;
};

struct ptx_run {
    const char *text;
    unsigned items, group;
    unsigned width; /* items of a row of them, numbered along x and then along y; 0: all are one row */
    struct ptx_memory parameter[PTX_PARAMETERS]; /* a buffer, or ... */
    int64_t number[PTX_PARAMETERS];              /* ... where that has no value, a number */
    size_t shared_bytes;
    unsigned steps, barriers; /* done */
    char error[200];
};

/* False: `error` says why. */
bool ptx_run(struct ptx_run *run);

/* ptx_arithmetic.c: NAN, and false, for what is not known there. */
float ptx_of_floats(const char *operation, float a, float b, float c);
bool ptx_of_integers(int64_t *result, const char *operation, int64_t a, int64_t b, int64_t c);

#endif
