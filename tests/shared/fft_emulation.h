/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a batch of transforms with its stages should give, in double precision, written from the public header alone. */
#ifndef PENSTOCK_TEST_FFT_EMULATION_H
#define PENSTOCK_TEST_FFT_EMULATION_H

#include "backends/backend.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

/* IEEE 754 binary16. */
static inline double emulated_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = ldexp(exponent ? 1024 + fraction : fraction, exponent ? exponent - 25 : -24);
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    return bits & 0x8000 ? -value : value;
}

static inline double complex emulated_sample(const void *in, penstock_format format, size_t i, size_t samples)
{
    const float *floats = in;
    const int16_t *shorts = in;
    const int8_t *bytes = in;
    const uint8_t *unsigned_bytes = in;
    const uint16_t *halves = in;
    switch (format) {
    case PENSTOCK_CF32:
        return floats[2 * i] + I * (double)floats[2 * i + 1];
    case PENSTOCK_CS16:
        return (shorts[2 * i] + I * shorts[2 * i + 1]) / 32768;
    case PENSTOCK_CS8:
        return (bytes[2 * i] + I * bytes[2 * i + 1]) / 128;
    case PENSTOCK_CU8:
        return (unsigned_bytes[2 * i] - 127.5 + I * (unsigned_bytes[2 * i + 1] - 127.5)) / 128;
    case PENSTOCK_PLANAR:
        return floats[i] + I * (double)floats[samples + i];
    case PENSTOCK_F32:
        return floats[i];
    case PENSTOCK_CF16:
        return emulated_half(halves[2 * i]) + I * emulated_half(halves[2 * i + 1]);
    }
    return NAN;
}

/* Frame `frame`'s transform, n values in `bins`. */
static inline int emulate_transform(double complex *bins, const struct penstock_fft_problem *fft, const void *in,
                                    size_t samples, const struct penstock_gather *gather, size_t frame)
{
    const double turn = 6.28318530717958647692;
    size_t first = gather ? gather[frame].start : frame * fft->spacing + fft->skip, n = fft->n;
    bool half = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE;
    for (size_t j = 0; j < (half ? n / 2 + 1 : n); j++) {
        double turns = gather ? (gather[frame].phase + (uint32_t)j * gather[frame].step) % 4294967296u / 4294967296.0
                              : fft->shift * (double)j;
        bins[j] = emulated_sample(in, fft->format, first + j, samples);
        bins[j] *= cexp(I * turn * (turns - floor(turns))) * (fft->window ? (double)fft->window[j] : 1);
        if (half && (j == 0 || 2 * j == n))
            bins[j] = creal(bins[j]);
        if (half && j > 0)
            bins[n - j] = conj(bins[j]);
    }
    return penstock__dft((double *)(void *)bins, n, fft->direction);
}

/*
 * `frames` frames to `out`: per value (re, im) for complex output, one number for others. Decibels are left as powers:
 * the caller compares them as it sees fit.
 */
static inline int emulate_fft(double *out, const struct penstock_fft_problem *fft, const void *in, size_t samples,
                              const struct penstock_gather *gather, size_t frames)
{
    size_t n = fft->n, count = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_FORWARD ? n / 2 + 1 : n;
    bool real_out = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE;
    double complex *bins = malloc(n * sizeof *bins);
    int status = bins ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    for (size_t frame = 0; !status && frame < frames; frame++) {
        status = emulate_transform(bins, fft, in, samples, gather, frame);
        for (size_t k = 0; k < count; k++) {
            size_t at = frame / fft->average * count + (fft->centered ? (k + n / 2) % n : k);
            double complex value = bins[k] * (double)fft->scale;
            if (real_out) {
                out[at] = creal(value);
            } else if (fft->output == PENSTOCK_OUTPUT_COMPLEX) {
                out[2 * at] = creal(value);
                out[2 * at + 1] = cimag(value);
            } else {
                double power = creal(value) * creal(value) + cimag(value) * cimag(value);
                out[at] = (frame % fft->average ? out[at] : 0) + power / fft->average;
            }
        }
    }
    free(bins);
    return status;
}

#endif
