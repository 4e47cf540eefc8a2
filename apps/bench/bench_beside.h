/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Timing beside a device's peer where the device computes in the host's memory. */
#ifndef PENSTOCK_APPS_BENCH_BESIDE_H
#define PENSTOCK_APPS_BENCH_BESIDE_H

#include "bench_run.h"
#include "peers/peers.h"

/* Measures the row again: `ours`, whose last run left `out`, and the row's peer with `work`, by the wall's clock.
 * Returns an exit code. */
int bench_beside(struct bench_row *row, const struct workload *ours, const struct device_work *work, const void *out,
                 size_t out_bytes);

#endif
