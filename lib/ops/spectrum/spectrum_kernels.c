/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of spectrum_kernels.h, written for a vectorising compiler: this file is built once for each instruction
 * set. */
#include "ops/spectrum/spectrum_kernels.h"
#include "vector/decibel.h"

#ifndef SPECTRUM_KERNELS
#define SPECTRUM_KERNELS penstock__spectrum_kernels_plain
#endif

static void decay(double *restrict mean, float *restrict powers, size_t n, double weight)
{
    const double rest = 1 - weight;
    for (size_t i = 0; i < n; i++) {
        mean[i] = weight * (double)powers[i] + rest * mean[i];
        powers[i] = (float)mean[i];
    }
}

static void decibel(float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = penstock__decibel(values[i]);
}

const struct spectrum_kernels SPECTRUM_KERNELS = {.decay = decay, .decibel = decibel};
