/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An OpenCL loader that knows no driver, and cuts OCL_ICD_FILENAMES as Khronos' own does. It tells whether it was
 * called by two threads at once. */
#include "backends/opencl/opencl.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int penstock_test_cut(void);

int penstock_test_cut(void)
{
    static atomic_int callers;
    char *names = getenv("OCL_ICD_FILENAMES");
    if (atomic_fetch_add(&callers, 1))
        setenv("PENSTOCK_TEST_TOGETHER", "1", 1);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    if (names && strchr(names, ':'))
        *strchr(names, ':') = 0;
    setenv("PENSTOCK_TEST_CUT", "1", 1);
    atomic_fetch_sub(&callers, 1);
    return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
}

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wattribute-alias"
#define FUNCTION(name) __typeof__(cl##name) cl##name __attribute__((alias("penstock_test_cut"), visibility("default")));
OPENCL_FUNCTIONS(FUNCTION)
