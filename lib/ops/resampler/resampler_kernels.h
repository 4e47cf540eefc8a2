/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sums of a resampler, built once for each instruction set. */
#ifndef PENSTOCK_OPS_RESAMPLER_KERNELS_H
#define PENSTOCK_OPS_RESAMPLER_KERNELS_H

#include <penstock/penstock.h>

/* Floats that a sum goes on by: eight complex samples, or sixteen real ones. */
#define RESAMPLER_STEP 16

/* Arms of `length` floats each, a multiple of RESAMPLER_STEP, one behind the other. For complex samples each tap stands
 * there twice, for I and for Q. */
struct resampler_table {
    float *values;
    size_t length;
};

/* Where an output is made: floats from `at` on by arm `arm`, or that part of the way to the next arm. */
struct resampler_place {
    uint32_t at, arm;
    float between;
};

struct resampler_kernels {
    const char *name;

    /*
     * Of each place the sum of products of floats with even numbers, then with odd ones: a complex value, or the two
     * halves of a real one. Products are added up in RESAMPLER_STEP sums in turn, those to one value in a fixed order,
     * so that places have the same bits whatever is made beside them. `exact`: no `between` is read. No alignment is
     * asked for.
     */
    void (*sum)(float *out, const float *in, const struct resampler_table *table, const struct resampler_place *places,
                size_t count, bool exact);

    /* The same, to the last bit, where all places are exact and those `period` apart have the same arm. */
    void (*sum_cycle)(float *out, const float *in, const struct resampler_table *table,
                      const struct resampler_place *places, size_t count, size_t period);
};

extern const struct resampler_kernels penstock__resampler_kernels_plain, penstock__resampler_kernels_avx2,
    penstock__resampler_kernels_avx512;

/* The build that this processor runs best. */
const struct resampler_kernels *penstock__resampler_kernels(void);

#endif
