/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Channel by least squares from the long symbols, then among the responses of few samples: the fewer the taps, the less
 * noise is left. The shortest response is taken that leaves no more unexplained than the noise is.
 * O. Edfors et al., "OFDM channel estimation by singular value decomposition", IEEE Trans. Comm. 46(7), 1998.
 */
#include "rx/wifi/frame_kernels.h"

#include <string.h>

/* What is unexplained may exceed its expectation by this; both have deviations of about 15 %. */
#define TOLERANCE 1.5F

void penstock__wifi_transform(const struct penstock__wifi_tables *tables, struct penstock__wifi_bins *out,
                              const struct penstock__wifi_bins *in)
{
    penstock__frame_kernels()->transform(out, in->re, in->im, &tables->fft);
}

void penstock__wifi_transform_both(const struct penstock__wifi_tables *tables, struct penstock__wifi_bins *first,
                                   struct penstock__wifi_bins *second, const float *re, const float *im)
{
    const struct frame_kernels *kernels = penstock__frame_kernels();
    kernels->transform(first, re, im, &tables->fft);
    kernels->transform(second, re + PENSTOCK__WIFI_FFT, im + PENSTOCK__WIFI_FFT, &tables->fft);
}

void penstock__wifi_transform_sum(const struct penstock__wifi_tables *tables, struct penstock__wifi_bins *sum,
                                  const float *re, const float *im)
{
    struct penstock__wifi_bins both;
    for (unsigned i = 0; i < PENSTOCK__WIFI_FFT; i++) {
        both.re[i] = re[i] + re[i + PENSTOCK__WIFI_FFT];
        both.im[i] = im[i] + im[i + PENSTOCK__WIFI_FFT];
    }
    penstock__frame_kernels()->transform(sum, both.re, both.im, &tables->fft);
}

void penstock__wifi_symbol(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                           unsigned index, struct penstock__wifi_bins *bins)
{
    const struct frame_kernels *kernels = penstock__frame_kernels();
    const size_t at =
        segment->first + 2 * PENSTOCK__WIFI_FFT + PENSTOCK__WIFI_GUARD + index * PENSTOCK__WIFI_SYMBOL - WINDOW_OFFSET;
    kernels->transform(bins, segment->re + at, segment->im + at, &tables->fft);
    kernels->mul_conj(bins, bins, &tables->later[WINDOW_OFFSET]);
}

void penstock__wifi_weigh(struct penstock__wifi_bins *weighted, const struct penstock__wifi_bins *bins,
                          const struct penstock__wifi_bins *channel)
{
    penstock__frame_kernels()->mul_conj(weighted, bins, channel);
}

/* A phase between the two is the oscillators', and tracked later; it is no noise. The floor keeps a signal without any
 * from a division by zero. */
float penstock__wifi_noise(const struct penstock__wifi_tables *tables, const struct penstock__wifi_bins *first,
                           const struct penstock__wifi_bins *second)
{
    return penstock__frame_kernels()->compare(first, second, tables->known) / (2 * USED_CARRIERS) +
           1e-9F * PENSTOCK__WIFI_FFT;
}

void penstock__wifi_smooth(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                           float variance)
{
    const struct frame_kernels *kernels = penstock__frame_kernels();
    unsigned taps = 0;
    bool found = false;
    memset(&segment->channel, 0, sizeof segment->channel);
    for (unsigned i = 0; i < 3 && !found; i++) {
        float limit = TOLERANCE * variance * (USED_CARRIERS - tables->smooth_rank[i]);
        found = kernels->project(&segment->channel, &segment->least_squares, tables->smooth + taps,
                                 tables->smooth_taps[i] - taps) <= limit;
        taps = tables->smooth_taps[i];
    }
    if (!found) /* a longer response than a guard interval, or so little noise that the smoothing itself would show */
        segment->channel = segment->least_squares;
}

void penstock__wifi_estimate(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment)
{
    const struct frame_kernels *kernels = penstock__frame_kernels();
    struct penstock__wifi_bins a, b;
    penstock__wifi_transform_both(tables, &a, &b, segment->re + segment->window, segment->im + segment->window);
    kernels->estimate(&segment->least_squares, &a, &b, tables->known, &tables->later[segment->first - segment->window]);
    segment->noise = penstock__wifi_noise(tables, &a, &b);
}
