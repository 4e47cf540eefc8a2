/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The discrete Fourier transform by its definition, in double precision: what every transform is measured against. */
#ifndef PENSTOCK_APPS_REFERENCE_DFT_H
#define PENSTOCK_APPS_REFERENCE_DFT_H

#include <stdbool.h>
#include <stddef.h>

/* Plan for length n >= 1: the roots of unity, computed in long double and rounded once. */
struct reference_dft {
    size_t n;
    double *roots; /* exp(-2 pi i j / n), re and im */
};

/* False when out of memory. */
bool reference_dft_init(struct reference_dft *dft, size_t n);
void reference_dft_free(struct reference_dft *dft);

/* Bin `bin` < n of the n values (re, im) at `in`: forward, or reverse and unscaled. */
void reference_dft_bin(const struct reference_dft *dft, const double *in, bool reverse, size_t bin, double out[2]);

#endif
