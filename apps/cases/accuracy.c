/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Comparison of outputs with the reference DFT, bin by bin. */
#include "accuracy.h"

#include "shared/random.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Products that a quick comparison of one frame may cost. */
static const size_t affordable = (size_t)1 << 21;

size_t stored_count(const struct stored *stored)
{
    bool half = stored->domain == PENSTOCK_REAL && stored->direction == PENSTOCK_FORWARD;
    return half ? stored->n / 2 + 1 : stored->n;
}

static size_t stored_parts(const struct stored *stored)
{
    bool real = stored->domain == PENSTOCK_REAL && stored->direction == PENSTOCK_REVERSE;
    return stored->output == PENSTOCK_OUTPUT_COMPLEX && !real ? 2 : 1;
}

size_t stored_bytes(const struct stored *stored)
{
    return stored_parts(stored) * (stored->half ? sizeof(uint16_t) : sizeof(float));
}

static double number(const struct stored *stored, const void *values, size_t i)
{
    return stored->half ? signal_half(((const uint16_t *)values)[i]) : ((const float *)values)[i];
}

/* Values of a row of a frame. */
static size_t width_of(const struct stored *s)
{
    return s->rows ? s->n / s->rows : s->columns ? s->columns : s->n;
}

bool accuracy_init(struct accuracy *a, const struct stored *stored, bool thorough, uint64_t seed)
{
    enum { LEAST = 48, THOROUGH_MOST = 8192 };
    size_t count = stored_count(stored), share = affordable / stored->n;
    *a = (struct accuracy){.stored = *stored};
    a->bins = count <= LEAST || share >= count || (thorough && stored->n <= THOROUGH_MOST) ? count
              : share > LEAST                                                              ? share
                                                                                           : LEAST;
    a->power = malloc(a->bins * sizeof *a->power);
    a->sum = malloc(2 * a->bins * sizeof *a->sum);
    a->chosen = malloc(a->bins * sizeof *a->chosen);
    size_t width = width_of(stored);
    if (!a->power || !a->sum || !a->chosen || !reference_dft_init(&a->dft, width) ||
        !reference_dft_init(&a->column_dft, stored->n / width))
        return false;
    for (size_t i = 0; i < a->bins; i++)
        a->chosen[i] = a->bins == count ? i : (size_t)(random_uniform(&seed) * (double)count);
    return true;
}

void accuracy_free(struct accuracy *a)
{
    free(a->power);
    free(a->sum);
    free(a->chosen);
    reference_dft_free(&a->dft);
    reference_dft_free(&a->column_dft);
}

/* A real signal's spectrum has its upper half by symmetry; the transform of it is then real. */
static double *complete_spectrum(const double *half, size_t n)
{
    double *whole = malloc(2 * n * sizeof *whole);
    for (size_t k = 0; whole && k < n; k++) {
        bool mirrored = k > n / 2;
        size_t from = mirrored ? n - k : k;
        bool real = from == 0 || 2 * from == n; /* the imaginary part of these is ignored */
        whole[2 * k] = half[2 * from];
        whole[2 * k + 1] = real ? 0 : mirrored ? -half[2 * from + 1] : half[2 * from + 1];
    }
    return whole;
}

/* One bin of the transform of a frame: of all its rows first, then of what they give down the column. */
static void transform_bin(const struct accuracy *a, const double *frame, size_t bin, double value[2])
{
    const struct stored *s = &a->stored;
    bool reverse = s->direction == PENSTOCK_REVERSE;
    size_t width = width_of(s), height = s->n / width;
    double *column = height > 1 ? malloc(2 * height * sizeof *column) : value;
    for (size_t row = 0; column && row < height; row++)
        if (s->columns)
            memcpy(column + 2 * row, frame + 2 * (row * width + bin % width), 2 * sizeof *column);
        else
            reference_dft_bin(&a->dft, frame + 2 * row * width, reverse, bin % width, column + 2 * row);
    if (height == 1)
        return;
    value[0] = value[1] = NAN;
    if (column)
        reference_dft_bin(&a->column_dft, column, reverse, bin / width, value);
    free(column);
}

/* Where a bin stands when zero frequency is in the middle. */
static size_t centered_at(const struct stored *s, size_t bin)
{
    size_t width = width_of(s), height = s->n / width, row = (bin / width + height / 2) % height, column = bin % width;
    return row * width + (s->columns ? column : (column + width / 2) % width);
}

static void transform(struct accuracy *a, const double *frames, size_t average)
{
    const struct stored *s = &a->stored;
    bool reverse = s->direction == PENSTOCK_REVERSE, half = reverse && s->domain == PENSTOCK_REAL;
    memset(a->power, 0, a->bins * sizeof *a->power);
    for (size_t f = 0; f < average; f++) {
        const double *frame = frames + f * 2 * (half ? s->n / 2 + 1 : s->n);
        double *whole = half ? complete_spectrum(frame, s->n) : NULL;
        for (size_t i = 0; i < a->bins; i++) {
            double value[2] = {NAN, NAN};
            if (!half || whole)
                transform_bin(a, whole ? whole : frame, a->chosen[i], value);
            a->sum[2 * i] = value[0];
            a->sum[2 * i + 1] = value[1];
            a->power[i] += (value[0] * value[0] + value[1] * value[1]) / (double)average;
        }
        free(whole);
    }
}

void accuracy_add(struct accuracy *a, const double *frames, size_t average, const void *out)
{
    const struct stored *s = &a->stored;
    transform(a, frames, average);
    for (size_t i = 0; i < a->bins; i++) {
        size_t at = s->centered ? centered_at(s, a->chosen[i]) : a->chosen[i];
        if (s->output != PENSTOCK_OUTPUT_COMPLEX) {
            double got = number(s, out, at);
            got = s->output == PENSTOCK_OUTPUT_DECIBEL ? pow(10, got / 10) : got;
            a->difference += (got - a->power[i]) * (got - a->power[i]);
            a->total += a->power[i] * a->power[i];
        } else if (stored_parts(s) == 1) {
            a->difference += pow(number(s, out, at) - a->sum[2 * i], 2);
            a->total += pow(a->sum[2 * i], 2);
        } else {
            a->difference +=
                pow(number(s, out, 2 * at) - a->sum[2 * i], 2) + pow(number(s, out, 2 * at + 1) - a->sum[2 * i + 1], 2);
            a->total += a->power[i];
        }
    }
}

double accuracy_error(const struct accuracy *a)
{
    return sqrt(a->difference / a->total);
}

/* liquid-dsp is less exact than others, and the QPUs' hardware truncates: docs/qpu.md. */
double accuracy_factor(const char *device, size_t n)
{
    double log2_n = fmax(log2((double)n), 1);
    if (!strncmp(device, "qpu", 3))
        return fmax(0.49e-6 * pow(log2_n / 8, 1.4) / (1e-7 * sqrt(log2_n)), 1);
    return strcmp(device, "reference") ? 1 : 6;
}

double accuracy_bound(const struct accuracy *a, const char *device)
{
    double bound = 1e-7 * sqrt(fmax(log2((double)a->stored.n), 1)) * accuracy_factor(device, a->stored.n);
    bound *= a->stored.half_arithmetic ? 8192 : 1;
    double rounding = a->stored.half ? 0x1p-11 : 0;
    if (a->stored.output == PENSTOCK_OUTPUT_COMPLEX)
        return bound + rounding;
    return 2 * bound + (a->stored.output == PENSTOCK_OUTPUT_POWER ? rounding : 2e-6 + 64 * rounding * log(10) / 10);
}
