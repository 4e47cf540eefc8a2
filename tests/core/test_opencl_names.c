/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A loader that cuts OCL_ICD_FILENAMES leaves it whole for processes that are started later, and is asked by one thread
 * at a time. Argument: the loader. */
#include "backends/opencl/opencl.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NAMES "liba.so:libb.so:libc.so"

static const char *why_none(char reason[256])
{
    struct penstock_device rows[4];
    size_t count = 0;
    return penstock__opencl_probe(NULL, rows, 4, &count, reason) || count ? "there are devices" : reason;
}

static void *probe_beside(void *unused)
{
    char reason[256] = "";
    (void)unused;
    return (void *)(uintptr_t) !!strstr(why_none(reason), "no platform");
}

/* Contexts of several threads, as the driver sees them. */
static void check_together(void)
{
    pthread_t threads[4];
    void *right;
    unsetenv("PENSTOCK_TEST_TOGETHER");
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_create(&threads[i], NULL, probe_beside, NULL), "no thread");
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_join(threads[i], &right) && right, "another answer");
    CHECK(!getenv("PENSTOCK_TEST_TOGETHER"), "two threads asked the drivers at once");
}

int main(int argc, char **argv)
{
    char reason[256] = "";
    if (argc != 2)
        return test_skip("the path of a loader is needed");
    setenv("OCL_ICD_FILENAMES", NAMES, 1);
    setenv("PENSTOCK_OPENCL_LIBRARY", argv[1], 1);
    for (int i = 0; i < 2; i++) {
        unsetenv("PENSTOCK_TEST_CUT");
        CHECK(strstr(why_none(reason), "no platform"), "another loader: %s", reason);
        CHECK(getenv("PENSTOCK_TEST_CUT"), "the loader cut nothing");
        CHECK(!strcmp(getenv("OCL_ICD_FILENAMES"), NAMES), "%s", getenv("OCL_ICD_FILENAMES"));
    }
    check_together();
    return test_finish();
}
