/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A loader that cuts OCL_ICD_FILENAMES leaves it whole for processes that are started later. Argument: the loader. */
#include "backends/opencl/opencl.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define NAMES "liba.so:libb.so:libc.so"

int main(int argc, char **argv)
{
    struct penstock_device rows[4];
    char reason[256] = "";
    size_t count = 0;
    if (argc != 2)
        return test_skip("the path of a loader is needed");
    setenv("OCL_ICD_FILENAMES", NAMES, 1);
    setenv("PENSTOCK_OPENCL_LIBRARY", argv[1], 1);
    for (int i = 0; i < 2; i++) {
        unsetenv("PENSTOCK_TEST_CUT");
        CHECK(!penstock__opencl_probe(NULL, rows, 4, &count, reason) && !count, "there are devices");
        CHECK(strstr(reason, "no platform"), "another loader: %s", reason);
        CHECK(getenv("PENSTOCK_TEST_CUT"), "the loader cut nothing");
        CHECK(!strcmp(getenv("OCL_ICD_FILENAMES"), NAMES), "%s", getenv("OCL_ICD_FILENAMES"));
    }
    return test_finish();
}
