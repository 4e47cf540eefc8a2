/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Random samples and taps of a case's filter, and its values by their definition. */
#include "filter_signal.h"
#include "accuracy.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

int filter_signal_make(struct filter_signal *signal, const struct filter_case *filter, size_t samples)
{
    uint64_t seed = filter->taps;
    *signal = (struct filter_signal){.filter = filter, .samples = samples};
    signal->values = (samples * filter->interpolation + filter->decimation - 1) / filter->decimation;
    signal->in = malloc(samples * penstock_format_bytes(filter->format));
    signal->taps = malloc(filter->taps * sizeof *signal->taps);
    signal->real_taps = malloc(filter->taps * sizeof *signal->real_taps);
    if (!signal->in || !signal->taps || !signal->real_taps)
        return PENSTOCK_ERR_MEMORY;
    signal_random(signal->in, filter->format, samples, &seed);
    signal_random(signal->taps, PENSTOCK_CF32, filter->taps, &seed);
    signal_random(signal->real_taps, PENSTOCK_F32, filter->taps, &seed);
    return PENSTOCK_OK;
}

void filter_signal_free(struct filter_signal *signal)
{
    free(signal->in);
    free(signal->taps);
    free(signal->real_taps);
}

static double shift_of(const struct filter_case *filter, size_t channel)
{
    return filter->shift + (double)channel / 64;
}

int filter_signal_open(const struct filter_signal *signal, penstock_stream **stream, const struct case_target *target)
{
    const struct filter_case *filter = signal->filter;
    penstock_filter_channel channels[CASE_MOST_CHANNELS];
    for (size_t c = 0; c < filter->channels; c++)
        channels[c] = (penstock_filter_channel){.taps = filter->real_taps ? NULL : signal->taps,
                                                .real_taps = filter->real_taps ? signal->real_taps : NULL,
                                                .tap_count = filter->taps,
                                                .shift = shift_of(filter, c)};
    return penstock_filter_open(
        stream, target->context,
        &PENSTOCK_FILTER_DESC(.format = filter->format, .channels = channels, .channel_count = filter->channels,
                              .decimation = filter->decimation, .interpolation = filter->interpolation, .n = filter->n),
        target->device);
}

void filter_signal_value(const struct filter_signal *signal, size_t channel, size_t p, double y[2])
{
    const struct filter_case *filter = signal->filter;
    size_t up = filter->interpolation;
    y[0] = y[1] = 0;
    for (size_t k = p % up; k < filter->taps && k <= p; k += up) {
        size_t j = (p - k) / up;
        double x[2], angle = 2 * PI * remainder(shift_of(filter, channel) * (double)j, 1), c = cos(angle),
                     s = sin(angle);
        double h[2] = {filter->real_taps ? (double)signal->real_taps[k] : (double)signal->taps[k].re,
                       filter->real_taps ? 0 : (double)signal->taps[k].im};
        signal_value(signal->in, filter->format, j, signal->samples, x);
        double re = x[0] * c - x[1] * s, im = x[0] * s + x[1] * c;
        y[0] += h[0] * re - h[1] * im;
        y[1] += h[0] * im + h[1] * re;
    }
}

double filter_signal_bound(const struct case_target *target, size_t n)
{
    return 2e-7 * sqrt(log2((double)n)) * accuracy_factor(target->device, n);
}
