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

/* Bytes of `sums`, aligned to 8, for the mean over frames; 0 where there is none. */
size_t penstock__store_sum_bytes(const struct cpu_store *store);

/*
 * The transform's values (which are destroyed) of frame `k` of the `average` frames that make the output `out`;
 * the output is complete after the last one.
 */
void penstock__store_frame(const struct cpu_store *store, void *out, void *values, double *sums, unsigned k);

/* The place of bin 0 in the output. */
size_t penstock__store_first(const struct cpu_store *store);

/* The same where somebody else has left the mean power of all frames, in its place, in `out`. */
void penstock__store_mean(const struct cpu_store *store, void *out);

#endif
