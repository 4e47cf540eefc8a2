/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The load stage: a frame's samples to float, through window and frequency shift, into aligned memory. */
#ifndef PENSTOCK_CPU_LOAD_H
#define PENSTOCK_CPU_LOAD_H

#include "backends/backend.h"
#include "backends/cpu/loops.h"

struct cpu_load {
    const struct penstock_fft_problem *fft;
    const struct cpu_loops *loops;
    penstock_cf32 *factors; /* window times shift, n values, or NULL where there is no shift */
    bool untouched;         /* the samples are what the transform takes: it may read them where they lie */
};

int penstock__load_init(struct cpu_load *load, const struct penstock_fft_problem *fft);
void penstock__load_free(struct cpu_load *load);

/* The folded frame whose first sample is `first` of the `total` samples at `in`; `turn` < n is its own. */
void penstock__load_folded(const struct cpu_load *load, penstock_cf32 *out, const void *in, size_t first, size_t total,
                           size_t turn);

/* The frame whose first sample is `first` of the `total` samples at `in`, to `out`: floats where the transform is real
 * and forward, else complex values. `gather` NULL: not gathered. */
void penstock__load_frame(const struct cpu_load *load, void *out, const void *in, size_t first, size_t total,
                          const struct penstock_gather *gather);

#endif
