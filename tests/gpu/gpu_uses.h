/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What runs on a device, each in one call, with something that happens in mid-work. */
#ifndef PENSTOCK_TEST_GPU_USES_H
#define PENSTOCK_TEST_GPU_USES_H

#include <penstock/penstock.h>

enum { USE_N = 256, USE_SAMPLES = 16000 * USE_N, USE_VALUES = USE_SAMPLES + USE_N };

struct gpu_work {
    penstock_context *context;
    const char *device;           /* that is asked for */
    void (*halfway)(void);        /* when half of the samples have been given; NULL: nothing happens then */
    const penstock_cf32 *samples; /* USE_SAMPLES */
    penstock_cf32 *values;        /* room for USE_VALUES */
    size_t made;                  /* so many came, an error or not */
    char at_last[32];             /* the device that computes in the end */
};

struct gpu_use {
    const char *name;
    int plans;    /* and kernels that do without them: each may go over to the CPU by itself */
    double bound; /* relative L2 error */
    int (*run)(struct gpu_work *work);
};

enum { GPU_USES = 6 };
extern const struct gpu_use gpu_uses[GPU_USES];

#endif
