/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Taps to their spectrum, in double precision. */
#include "ops/filter_engine.h"

#include <math.h>

#define PI 3.14159265358979323846

/*
 * h[k] exp(-2 pi i s k): filtering with these and turning the value at position p by exp(2 pi i s p) is the same as
 * turning the samples before the filter. What of an advance is no whole sample moves the taps forward.
 */
static void load(double *data, const struct filter_shape *shape, double shift, const penstock_cf32 *complex_taps,
                 const float *real_taps, size_t count)
{
    size_t forward = shape->advance % shape->interpolation;
    double s = shift / (double)shape->interpolation;
    for (size_t k = 0; k < count; k++) {
        double re = (double)(real_taps ? real_taps[k] : complex_taps[k].re);
        double im = real_taps ? 0 : (double)complex_taps[k].im;
        double angle = shift == 0 ? 0 : -2 * PI * remainder(s * (double)k, 1), c = cos(angle), d = sin(angle);
        double *value = data + 2 * (k < forward ? shape->high + k - forward : k - forward);
        value[0] = (re * c - im * d) / (double)shape->high;
        value[1] = (re * d + im * c) / (double)shape->high;
    }
}

int penstock__filter_taps_new(struct filter_taps **taps, const struct filter_shape *shape, double shift,
                              const penstock_cf32 *complex_taps, const float *real_taps, size_t count)
{
    size_t bins = shape->real ? shape->high / 2 + 1 : shape->high;
    double *data = penstock__calloc(2 * shape->high, sizeof *data);
    struct filter_taps *made = penstock__alloc(sizeof *made + bins * sizeof made->spectrum[0]);
    penstock_cf32 *spectrum = shape->pair ? penstock__alloc(bins * sizeof *spectrum) : made ? made->spectrum : NULL;
    int status = PENSTOCK_ERR_MEMORY;
    *taps = NULL;
    if (!data || !made || !spectrum)
        goto done;
    load(data, shape, shift, complex_taps, real_taps, count);
    if ((status = penstock__dft(data, shape->high, PENSTOCK_FORWARD)))
        goto done;
    made->count = count;
    made->from = 0;
    made->next = NULL;
    for (size_t k = 0; k < bins; k++)
        spectrum[k] = (penstock_cf32){(float)data[2 * k], (float)data[2 * k + 1]};
    if (shape->pair)
        penstock__filter_pair_order(shape->pair, (float *)(void *)made->spectrum, spectrum);
    *taps = made;
    made = NULL;
done:
    if (shape->pair)
        penstock__free(spectrum);
    penstock__free(made);
    penstock__free(data);
    return status;
}
