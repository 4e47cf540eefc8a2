/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The store stage: scale, power, decibel, mean over frames, fftshift, from aligned memory to the output. */
#ifndef PENSTOCK_CPU_STORE_H
#define PENSTOCK_CPU_STORE_H

#include "backends/backend.h"
#include "backends/cpu/loops.h"

struct cpu_store {
    const struct penstock_fft_problem *fft;
    const struct cpu_loops *loops;
    bool untouched; /* the transform's values are the output: it may write them where they belong */
};

void penstock__store_init(struct cpu_store *store, const struct penstock_fft_problem *fft);

/* The transform's values (which are destroyed) of a frame that is an output by itself. */
void penstock__store_frame(const struct cpu_store *store, void *out, void *values);

/* Powers of so many transforms are added in float before they go to the sums in double: each addition errs by 2^-24 of
 * their sum at the most, all three by 1.8e-7, and by some 5e-8 in the mean square. */
#define POWER_TOGETHER 4

/* Bytes of `sums`, aligned to 8, for the mean over frames: those in double, and behind them those in float that are not
 * in there yet; 0 where there is none. */
size_t penstock__store_sum_bytes(const struct cpu_store *store);

/* Adds the power of the transform's values (which are destroyed) of frame `k` of `count`: the first one does not mind
 * what was there. */
void penstock__store_add(const struct cpu_store *store, double *sums, void *values, unsigned k, unsigned count);

/* The output, from the sums of all frames. */
void penstock__store_sums(const struct cpu_store *store, void *out, const double *sums);

/* The place of bin 0 in the output. */
size_t penstock__store_first(const struct cpu_store *store);

/* The same where the power, of all frames in the mean, is in its place in `out` already. */
void penstock__store_mean(const struct cpu_store *store, void *out);

#endif
