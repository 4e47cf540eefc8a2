/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An OpenCL loader that knows no driver, and cuts OCL_ICD_FILENAMES as Khronos' own does. */
#include "backends/opencl/opencl.h"

#include <stdlib.h>
#include <string.h>

int penstock_test_cut(void);

int penstock_test_cut(void)
{
    char *names = getenv("OCL_ICD_FILENAMES");
    if (names && strchr(names, ':'))
        *strchr(names, ':') = 0;
    setenv("PENSTOCK_TEST_CUT", "1", 1);
    return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
}

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wattribute-alias"
#define FUNCTION(name) __typeof__(cl##name) cl##name __attribute__((alias("penstock_test_cut"), visibility("default")));
OPENCL_FUNCTIONS(FUNCTION)
