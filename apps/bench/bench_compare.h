/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Whether a peer computed what ours did. */
#ifndef PENSTOCK_APPS_BENCH_COMPARE_H
#define PENSTOCK_APPS_BENCH_COMPARE_H

#include "peers/peers.h"
#include "shared/command.h"

#include <stddef.h>

struct bench_names {
    const char *test, *peer;
};

/* How much of an output is compared. */
size_t bench_compared_bytes(size_t out_bytes);

/* Floats by their relative L2 difference, 1e-5; soft bits within one. Returns an exit code. */
int bench_compare(const struct device_work *work, const char *ours, const char *theirs, size_t bytes,
                  const struct bench_names *names);

#endif
