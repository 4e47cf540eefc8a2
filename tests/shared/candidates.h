/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* For tests of "auto" among two devices that the test has in hand. */
#ifndef PENSTOCK_TESTS_CANDIDATES_H
#define PENSTOCK_TESTS_CANDIDATES_H

#include "core/device/devices.h"
#include "test.h"

#include <stdio.h>

/* Of the context's devices "cpu" and "trace" alone, with these backends: `trace` is a copy of its own without the flag
 * that keeps it from "auto". `cpu` NULL: the library's. */
static inline void test_candidates(penstock_context *of, const struct penstock_backend *cpu,
                                   const struct penstock_backend *trace)
{
    struct penstock_device *device;
    CHECK_OK(penstock__devices_probe(of, NULL));
    for (size_t i = 0; (device = penstock__device_row(of, NULL, i)); i++) {
        if (!strcmp(device->name, "cpu"))
            device->backend = cpu ? cpu : device->backend;
        else if (!strcmp(device->name, "trace"))
            device->backend = trace;
        else
            snprintf(device->reason, sizeof device->reason, "not in this test");
    }
}

#endif
