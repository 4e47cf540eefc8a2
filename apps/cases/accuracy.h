/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The error of transforms against the reference DFT, in the measure of the project's bounds: relative L2. */
#ifndef PENSTOCK_APPS_ACCURACY_H
#define PENSTOCK_APPS_ACCURACY_H

#include "reference_dft.h"

#include <penstock/penstock.h>

/* What stands at one bin after the store stage. */
struct stored {
    size_t n;
    penstock_domain domain;
    penstock_direction direction;
    penstock_output output;
    bool centered;
    size_t rows, columns; /* as in penstock_fft_desc */
    bool half, half_arithmetic;
};

struct accuracy {
    struct reference_dft dft, column_dft; /* of a row (of n where there are no rows), of a column */
    struct stored stored;
    size_t bins;              /* that are compared in a frame; all, or a random choice where that is too slow */
    double *power, *sum;      /* of a frame: |X|^2 averaged so far, and X (re, im), by compared bin */
    size_t *chosen;           /* which bins */
    double difference, total; /* sums of squares */
};

/* Compares all bins if `thorough` or n is small. False when out of memory. */
bool accuracy_init(struct accuracy *accuracy, const struct stored *stored, bool thorough, uint64_t seed);
void accuracy_free(struct accuracy *accuracy);

/* One output made of `average` >= 1 frames of n windowed values (re, im) each; real reverse: n / 2 + 1. */
void accuracy_add(struct accuracy *accuracy, const double *frames, size_t average, const void *out);

/* Relative L2 error so far, and the bound for it: design's 1e-7 sqrt(log2 n) on a transform (times
 * accuracy_factor()), doubled for powers; decibels add the rounding of a float near 100. Halfs add 2^-11, and that of
 * 64 to decibels; arithmetic in them has 8192 times the bound. */
double accuracy_error(const struct accuracy *accuracy);
double accuracy_bound(const struct accuracy *accuracy, const char *device);

/* How many times the error of most devices this one's transforms of n points may have: 6 on "reference", more than 1
 * on QPUs. */
double accuracy_factor(const char *device, size_t n);

/* Values in one output. */
size_t stored_count(const struct stored *stored);

/* Bytes of one of them. */
size_t stored_bytes(const struct stored *stored);

#endif
