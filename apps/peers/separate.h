/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The work around a peer's transform as separate kernels, each of which goes through memory once. */
#ifndef PENSTOCK_APPS_SEPARATE_H
#define PENSTOCK_APPS_SEPARATE_H

#include "cuda_machine.h"
#include "peers.h"

/*
 * Kernels for `work`, and memory for what they need. `before` fills `samples` (cf32) from `in`; `between` and `after`
 * take `spectrum`; each is counted as nothing where the work has no such part. Functions return exit codes.
 */
struct separate {
    struct cuda_machine *machine;
    const struct device_work *work;
    cuda_memory in, samples, spectrum, out;
    cuda_memory table; /* window or response */
    size_t in_count, out_bytes;
};

int separate_new(struct separate *separate);
int separate_before(struct separate *separate);  /* cs16 to cf32, times the window */
int separate_between(struct separate *separate); /* times the response, in place */
int separate_after(struct separate *separate);   /* power and mean, soft bits, or the cut */

#endif
