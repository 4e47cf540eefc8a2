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

int penstock__gpu_chirp(double *pairs, size_t n)
{
    double *roots = penstock__alloc(4 * n * sizeof *roots);
    if (!roots)
        return PENSTOCK_ERR_MEMORY;
    penstock__unit_roots(roots, 2 * n);
    for (size_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {
        pairs[2 * k] = roots[2 * square];
        pairs[2 * k + 1] = -roots[2 * square + 1];
    }
    penstock__free(roots);
    return PENSTOCK_OK;
}

int penstock__gpu_chirp_spectrum(float *values, const double *chirp, size_t n, size_t total)
{
    double *sequence = penstock__calloc(2 * total, sizeof *sequence);
    if (!sequence)
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < n; k++) {
        size_t mirrored = k ? total - k : 0;
        sequence[2 * mirrored] = sequence[2 * k] = chirp[2 * k];
        sequence[2 * mirrored + 1] = sequence[2 * k + 1] = -chirp[2 * k + 1];
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
    double *roots = penstock__alloc(2 * (size_t)n * sizeof *roots);
    if (!sequence || !roots) {
        penstock__free(sequence);
        penstock__free(roots);
        return PENSTOCK_ERR_MEMORY;
    }
    penstock__unit_roots(roots, n);
    for (unsigned i = 0; i < n - 1; i++, power = power * g % n) {
        double *value = sequence + 2 * (size_t)(i ? n - 1 - i : 0);
        value[0] = roots[2 * power];
        value[1] = -roots[2 * power + 1];
    }
    penstock__free(roots);
    return store_spectrum(values, sequence, n - 1);
}
