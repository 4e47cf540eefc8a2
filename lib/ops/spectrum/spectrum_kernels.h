/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The vector loops of the spectrum, built once for each instruction set; the builds give the same bits. */
#ifndef PENSTOCK_OPS_SPECTRUM_KERNELS_H
#define PENSTOCK_OPS_SPECTRUM_KERNELS_H

#include <penstock/penstock.h>

struct spectrum_kernels {
    /* mean[i] = weight powers[i] + (1 - weight) mean[i], which takes the place of powers[i]. */
    void (*decay)(double *mean, float *powers, size_t n, double weight);

    /* values[i] = 10 log10(values[i]), as vector/decibel.h. */
    void (*decibel)(float *values, size_t n);
};

extern const struct spectrum_kernels penstock__spectrum_kernels_plain, penstock__spectrum_kernels_avx2;

/* The build that this processor runs best. */
const struct spectrum_kernels *penstock__spectrum_kernels(void);

#endif
