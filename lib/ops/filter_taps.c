/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Taps to their spectrum, in double precision. */
#include "ops/filter_engine.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Of all filters. */
static uint64_t new_id(void)
{
    static _Atomic uint64_t last;
    return ++last;
}

/*
 * Taps `start` .. `end` - 1: h[k] exp(-2 pi i s k): filtering with these and turning the value at position p by exp(2
 * pi i s p) is the same as turning the samples before the filter. What of an advance is no whole sample moves the taps
 * forward.
 */
static void load(double *data, const struct filter_shape *shape, double shift, const penstock_cf32 *complex_taps,
                 const float *real_taps, size_t start, size_t end)
{
    size_t forward = shape->advance % shape->interpolation;
    double s = shift / (double)shape->interpolation;
    for (size_t k = start; k < end; k++) {
        double re = (double)(real_taps ? real_taps[k] : complex_taps[k].re);
        double im = real_taps ? 0 : (double)complex_taps[k].im;
        double angle = shift == 0 ? 0 : -2 * PI * remainder(s * (double)k, 1), c = cos(angle), d = sin(angle);
        size_t at = k - start;
        double *value = data + 2 * (at < forward ? shape->high + at - forward : at - forward);
        value[0] = (re * c - im * d) / (double)shape->high;
        value[1] = (re * d + im * c) / (double)shape->high;
    }
}

/* Each part's spectrum; without partitions there is one of all taps. */
static int transform(penstock_cf32 *spectrum, double *data, const struct filter_shape *shape, double shift,
                     const penstock_cf32 *complex_taps, const float *real_taps, size_t count)
{
    size_t bins = shape->real ? shape->high / 2 + 1 : shape->high, most = shape->partitions > 1 ? shape->block : count;
    int status = PENSTOCK_OK;
    for (size_t part = 0; part < shape->partitions && !status; part++) {
        size_t start = part * most < count ? part * most : count, end = count - start < most ? count : start + most;
        memset(data, 0, 2 * shape->high * sizeof *data);
        load(data, shape, shift, complex_taps, real_taps, start, end);
        status = penstock__dft(data, shape->high, PENSTOCK_FORWARD);
        for (size_t k = 0; k < bins && !status; k++)
            spectrum[part * bins + k] = (penstock_cf32){(float)data[2 * k], (float)data[2 * k + 1]};
    }
    return status;
}

int penstock__filter_taps_new(struct filter_taps **taps, const struct filter_shape *shape, double shift,
                              const penstock_cf32 *complex_taps, const float *real_taps, size_t count)
{
    size_t bins = shape->real ? shape->high / 2 + 1 : shape->high;
    double *data = penstock__alloc(2 * shape->high * sizeof *data);
    struct filter_taps *made = penstock__alloc(sizeof *made + shape->partitions * bins * sizeof made->spectrum[0]);
    penstock_cf32 *spectrum = shape->pair ? penstock__alloc(bins * sizeof *spectrum) : made ? made->spectrum : NULL;
    int status = PENSTOCK_ERR_MEMORY;
    *taps = NULL;
    if (!data || !made || !spectrum)
        goto done;
    if ((status = transform(spectrum, data, shape, shift, complex_taps, real_taps, count)))
        goto done;
    made->count = count;
    made->from = 0;
    made->id = new_id();
    made->next = NULL;
    made->given = NULL;
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

int penstock__filter_taps_keep(struct filter_taps *taps, const penstock_cf32 *complex_taps, const float *real_taps)
{
    size_t bytes = taps->count * (real_taps ? sizeof *real_taps : sizeof *complex_taps);
    if (!(taps->given = penstock__alloc(bytes)))
        return PENSTOCK_ERR_MEMORY;
    memcpy(taps->given, real_taps ? (const void *)real_taps : complex_taps, bytes);
    taps->given_real = real_taps;
    return PENSTOCK_OK;
}

void penstock__filter_taps_free(struct filter_taps *taps)
{
    if (taps)
        penstock__free(taps->given);
    penstock__free(taps);
}
