/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The constants of transforms that are computed as convolutions, made in double precision. */
#ifndef PENSTOCK_GPU_CONVOLUTION_H
#define PENSTOCK_GPU_CONVOLUTION_H

#include "backends/backend.h"

/* exp(-pi i k k / n), k < n, as pairs. */
int penstock__gpu_chirp(double *pairs, size_t n);

/* Spectrum of that chirp, mirrored, over `total` >= 2 n - 1 points, divided by total, as pairs. */
int penstock__gpu_chirp_spectrum(float *values, const double *chirp, size_t n, size_t total);

/* The order of samples (powers of a generator modulo the prime n) and of values (powers of its inverse), n - 1 each. */
void penstock__gpu_rader_order(float *in, float *out, unsigned n);

/* Spectrum of exp(-2 pi i g^-q / n), q < n - 1, divided by n - 1, as pairs. */
int penstock__gpu_rader_spectrum(float *values, unsigned n);

#endif
