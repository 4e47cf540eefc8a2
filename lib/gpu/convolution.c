/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Chirps, generators and the spectra of what transforms are convolved with; the formulas are in kernels/convolve.h. */
#include "gpu/convolution.h"

/* Transforms `sequence` in place and stores it, divided by its length. Frees it. */
static int store_spectrum(float *values, double *sequence, size_t total)
{
    int status = penstock__dft(sequence, total, PENSTOCK_FORWARD);
    for (size_t i = 0; i < 2 * total && !status; i++)
        values[i] = (float)(sequence[i] / (double)total);
    penstock__free(sequence);
    return status;
}

/* ---------------------------------------------------------------- Bluestein ------------------- */

void penstock__gpu_chirp(double *re, double *im, uint64_t k, uint64_t n)
{
    penstock__unit_root(re, im, k * k % (2 * n), 2 * n);
    *im = -*im;
}

int penstock__gpu_chirp_spectrum(float *values, size_t n, size_t total)
{
    double *sequence = penstock__calloc(2 * total, sizeof *sequence);
    if (!sequence)
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < n; k++) {
        size_t mirrored = k ? total - k : 0;
        penstock__gpu_chirp(&sequence[2 * k], &sequence[2 * k + 1], k, n);
        sequence[2 * k + 1] = -sequence[2 * k + 1];
        sequence[2 * mirrored] = sequence[2 * k];
        sequence[2 * mirrored + 1] = sequence[2 * k + 1];
    }
    return store_spectrum(values, sequence, total);
}

/* ---------------------------------------------------------------- Rader ----------------------- */

/* Whether the powers of g modulo the prime n are all numbers from 1 to n - 1. */
static bool generates(uint64_t g, unsigned n)
{
    uint64_t power = g;
    for (unsigned i = 1; i < n - 1; i++, power = power * g % n)
        if (power == 1)
            return false;
    return true;
}

static unsigned generator(unsigned n)
{
    unsigned g = n == 2 ? 1 : 2;
    while (!generates(g, n))
        g++;
    return g;
}

void penstock__gpu_rader_order(float *in, float *out, unsigned n)
{
    uint64_t g = generator(n), power = 1;
    for (unsigned i = 0; i < n - 1; i++, power = power * g % n) {
        in[i] = (float)power;
        out[i ? n - 1 - i : 0] = (float)power;
    }
}

int penstock__gpu_rader_spectrum(float *values, unsigned n)
{
    uint64_t g = generator(n), power = 1;
    double *sequence = penstock__alloc(2 * (size_t)(n - 1) * sizeof *sequence);
    if (!sequence)
        return PENSTOCK_ERR_MEMORY;
    for (unsigned i = 0; i < n - 1; i++, power = power * g % n) {
        double *value = sequence + 2 * (size_t)(i ? n - 1 - i : 0);
        penstock__unit_root(&value[0], &value[1], power, n);
        value[1] = -value[1];
    }
    return store_spectrum(values, sequence, n - 1);
}
