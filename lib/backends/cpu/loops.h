/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Loops that no library offers, built once for each instruction set; the builds give the same bits. */
#ifndef PENSTOCK_CPU_LOOPS_H
#define PENSTOCK_CPU_LOOPS_H

#include <penstock/penstock.h>

struct cpu_loops {
    /* values[j] *= exp(2 pi i (phase + j step) / 2^32): each factor is exact to about 1e-7, whatever j is. */
    void (*rotate)(penstock_cf32 *values, size_t n, uint32_t phase, uint32_t step);

    /* parts[i] = |values[i]|^2, and what that adds up to. */
    void (*power)(float *parts, const penstock_cf32 *values, size_t n);
    void (*add_power)(float *parts, const penstock_cf32 *values, size_t n);

    /* sums[i] += parts[i] */
    void (*add_parts)(double *sums, const float *parts, size_t n);

    /* values[i] = 10 log10(values[i]), at least -300; infinity and NaN stay. Exact to a few units of the last place. */
    void (*decibel)(float *values, size_t n);
};

extern const struct cpu_loops penstock__cpu_loops_plain, penstock__cpu_loops_avx2;

/* The build that this processor runs best. */
const struct cpu_loops *penstock__cpu_loops(void);

#endif
