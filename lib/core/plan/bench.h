/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Work with its samples on the device, to be timed. */
#ifndef PENSTOCK_CORE_BENCH_H
#define PENSTOCK_CORE_BENCH_H

#include "backends/backend.h"

#include <penstock/bench.h>

/* As penstock_bench_new(), on a device that is open; `on_host`: also on one that shares the host's memory. */
int penstock__bench_new(penstock_bench **bench, struct penstock_device *device, const penstock_bench_desc *desc,
                        bool on_host);

#endif
