/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Taps to their spectrum, in double precision. */
#include "ops/filter_engine.h"

#include <math.h>

#define PI 3.14159265358979323846

/*
 * h[k] exp(-2 pi i s k): filtering with these and turning sample p of the output by exp(2 pi i s p) is the same as
 * turning the samples before the filter.
 */
static void load(double *data, const struct filter_shape *shape, const penstock_cf32 *complex_taps,
                 const float *real_taps, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        double re = (double)(real_taps ? real_taps[k] : complex_taps[k].re);
        double im = real_taps ? 0 : (double)complex_taps[k].im;
        double angle = shape->shift == 0 ? 0 : -2 * PI * remainder(shape->shift * (double)k, 1);
        double c = cos(angle), s = sin(angle);
        data[2 * k] = (re * c - im * s) / (double)shape->n;
        data[2 * k + 1] = (re * s + im * c) / (double)shape->n;
    }
}

int penstock__filter_taps_new(struct filter_taps **taps, const struct filter_shape *shape,
                              const penstock_cf32 *complex_taps, const float *real_taps, size_t count)
{
    size_t bins = shape->real ? shape->n / 2 + 1 : shape->n;
    double *data = penstock__calloc(2 * shape->n, sizeof *data);
    struct filter_taps *made = penstock__alloc(sizeof *made + bins * sizeof made->spectrum[0]);
    int status = PENSTOCK_ERR_MEMORY;
    *taps = NULL;
    if (!data || !made)
        goto done;
    load(data, shape, complex_taps, real_taps, count);
    if ((status = penstock__dft(data, shape->n, PENSTOCK_FORWARD)))
        goto done;
    *made = (struct filter_taps){.count = count};
    for (size_t k = 0; k < bins; k++)
        made->spectrum[k] = (penstock_cf32){(float)data[2 * k], (float)data[2 * k + 1]};
    *taps = made;
    made = NULL;
done:
    penstock__free(made);
    penstock__free(data);
    return status;
}
