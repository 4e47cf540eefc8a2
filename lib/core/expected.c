/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a problem's output should be, in double precision. Nothing here is shared with a backend. */
#include "core/expected.h"

#include <math.h>
#include <string.h>

static const double tau = 6.28318530717958647692528676655900577;

static void read_sample(double value[2], const void *in, penstock_format format, size_t i, size_t total)
{
    switch (format) {
    case PENSTOCK_CF32:
        value[0] = ((const float *)in)[2 * i];
        value[1] = ((const float *)in)[2 * i + 1];
        break;
    case PENSTOCK_CS16:
        value[0] = ((const int16_t *)in)[2 * i] / 32768.0;
        value[1] = ((const int16_t *)in)[2 * i + 1] / 32768.0;
        break;
    case PENSTOCK_CS8:
        value[0] = ((const int8_t *)in)[2 * i] / 128.0;
        value[1] = ((const int8_t *)in)[2 * i + 1] / 128.0;
        break;
    case PENSTOCK_CU8:
        value[0] = (((const uint8_t *)in)[2 * i] - 127.5) / 128.0;
        value[1] = (((const uint8_t *)in)[2 * i + 1] - 127.5) / 128.0;
        break;
    case PENSTOCK_PLANAR:
        value[0] = ((const float *)in)[i];
        value[1] = ((const float *)in)[total + i];
        break;
    case PENSTOCK_F32:
        value[0] = ((const float *)in)[i];
        value[1] = 0;
        break;
    }
}

static void rotate(double value[2], double re, double im)
{
    double turned = value[0] * re - value[1] * im;
    value[1] = value[0] * im + value[1] * re;
    value[0] = turned;
}

/* Loads a frame's samples into `x`; false where all of them are zero. */
static bool load(double *x, const struct penstock_fft_problem *fft, const void *in, size_t samples,
                 const struct penstock_gather *gather, size_t frame)
{
    size_t first = gather ? gather[frame].start : frame * fft->spacing + fft->skip;
    bool any = false;
    for (size_t j = 0; j < penstock__fft_in_count(fft); j++) {
        double *value = x + 2 * j;
        read_sample(value, in, fft->format, first + j, samples);
        if (fft->window) {
            value[0] *= fft->window[j];
            value[1] *= fft->window[j];
        }
        if (gather) {
            double re, im;
            uint32_t phase = gather[frame].phase + (uint32_t)j * gather[frame].step;
            penstock__unit_root(&re, &im, phase, (uint64_t)1 << 32);
            rotate(value, re, im);
        } else if (fft->shift != 0) {
            double turns = fft->shift * (double)j;
            turns -= floor(turns);
            rotate(value, cos(tau * turns), sin(tau * turns));
        }
        any = any || value[0] != 0 || value[1] != 0;
    }
    return any;
}

/* The other half of a real signal's spectrum. */
static void mirror(double *x, size_t n)
{
    x[1] = 0;
    if (n % 2 == 0)
        x[n + 1] = 0;
    for (size_t k = 1; k < (n + 1) / 2; k++) {
        x[2 * (n - k)] = x[2 * k];
        x[2 * (n - k) + 1] = -x[2 * k + 1];
    }
}

/* Stores a transform, or adds its share to the mean power. */
static void store(double *out, const struct penstock_fft_problem *fft, const double *x)
{
    bool floats = penstock__fft_out_item(fft) == sizeof(float);
    for (size_t k = 0; k < penstock__fft_out_count(fft); k++) {
        size_t at = fft->centered ? (k + fft->n / 2) % fft->n : k;
        double re = fft->scale * x[2 * k], im = fft->scale * x[2 * k + 1];
        if (fft->output != PENSTOCK_OUTPUT_COMPLEX)
            out[at] += (re * re + im * im) / fft->average;
        else if (floats)
            out[at] = re;
        else {
            out[2 * at] = re;
            out[2 * at + 1] = im;
        }
    }
}

size_t penstock__expected_count(const struct penstock_fft_problem *fft)
{
    return penstock__fft_out_count(fft) * (penstock__fft_out_item(fft) / sizeof(float));
}

int penstock__expected(double *out, const struct penstock_fft_problem *fft, const void *in, size_t samples,
                       const struct penstock_gather *gather, size_t frames)
{
    bool mirrored = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE;
    size_t count = penstock__expected_count(fft);
    struct penstock_dft_plan *dft;
    double *x = penstock__alloc(2 * fft->n * sizeof *x);
    void *scratch = NULL;
    int status = x ? penstock__dft_plan_new(&dft, fft->n, fft->direction) : PENSTOCK_ERR_MEMORY;
    if (status) {
        penstock__free(x);
        return status;
    }
    if (!(scratch = penstock__alloc(penstock__dft_plan_scratch_bytes(dft))))
        status = PENSTOCK_ERR_MEMORY;
    memset(out, 0, frames / fft->average * count * sizeof *out);
    for (size_t frame = 0; frame < frames && !status; frame++) {
        if (!load(x, fft, in, samples, gather, frame))
            continue;
        if (mirrored)
            mirror(x, fft->n);
        penstock__dft_plan_run(dft, x, scratch);
        store(out + frame / fft->average * count, fft, x);
    }
    penstock__free(scratch);
    penstock__dft_plan_free(dft);
    penstock__free(x);
    return status;
}
