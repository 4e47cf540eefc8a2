/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How far a float result is from a double-precision one, in units of what the library promises. */
#ifndef PENSTOCK_TEST_FFT_ERROR_H
#define PENSTOCK_TEST_FFT_ERROR_H

#include <math.h>
#include <stddef.h>

/* Relative L2 error of `count` floats. */
static inline double relative_error(const float *got, const double *want, size_t count)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < count; i++) {
        error += (got[i] - want[i]) * (got[i] - want[i]);
        norm += want[i] * want[i];
    }
    return norm > 0 ? sqrt(error / norm) : sqrt(error);
}

/* The promise of penstock_fft_plan() for n points. */
static inline double error_bound(size_t n)
{
    return 1.0e-7 * sqrt(log2((double)n));
}

#endif
