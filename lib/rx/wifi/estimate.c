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

/* Bins of the symbol whose FFT window starts at `at`, as seen at sample `seen_at` >= at. */
static void transform(const struct penstock__wifi_tables *tables, penstock_cf32 *bins, const penstock_cf32 *samples,
                      size_t at, size_t seen_at)
{
    penstock__wifi_fft(tables, bins, samples + at);
    for (size_t k = 0; k < PENSTOCK__WIFI_FFT; k++)
        bins[k] = cf32_mul_conj(bins[k], tables->twiddle[k * (seen_at - at) % PENSTOCK__WIFI_FFT]);
}

void penstock__wifi_symbol(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                           unsigned index, penstock_cf32 *bins)
{
    size_t guard_end = segment->first + 2 * PENSTOCK__WIFI_FFT + PENSTOCK__WIFI_GUARD + index * PENSTOCK__WIFI_SYMBOL;
    transform(tables, bins, segment->rotated, guard_end - WINDOW_OFFSET, guard_end);
}

void penstock__wifi_smooth(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                           float variance)
{
    const struct frame_kernels *kernels = penstock__frame_kernels();
    struct frame_carriers in, out;
    bool found = false;
    memset(segment->channel, 0, sizeof segment->channel);
    for (unsigned c = 0; c < USED_CARRIERS; c++) {
        in.re[c] = segment->least_squares[tables->used[c] & 63].re;
        in.im[c] = segment->least_squares[tables->used[c] & 63].im;
    }
    for (unsigned i = 0; i < 3 && !found; i++) {
        float limit = TOLERANCE * variance * (USED_CARRIERS - tables->smooth_rank[i]);
        found = kernels->project(tables->smooth[i], &in, &out, limit);
    }
    if (!found) /* a longer response than a guard interval, or so little noise that the smoothing itself would show */
        out = in;
    for (unsigned c = 0; c < USED_CARRIERS; c++)
        segment->channel[tables->used[c] & 63] = (penstock_cf32){out.re[c], out.im[c]};
}

void penstock__wifi_estimate(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment)
{
    penstock_cf32 a[PENSTOCK__WIFI_FFT], b[PENSTOCK__WIFI_FFT], common = {0, 0};
    float difference = 0;
    transform(tables, a, segment->rotated, segment->window, segment->first);
    transform(tables, b, segment->rotated, segment->window + PENSTOCK__WIFI_FFT, segment->first + PENSTOCK__WIFI_FFT);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        float known = penstock__wifi_long_training[k].re;
        segment->least_squares[k] = cf32_scale(cf32_add(a[k], b[k]), 0.5F * known);
        common = cf32_add(common, cf32_scale(cf32_mul_conj(a[k], b[k]), known * known));
    }
    /* A phase between the two is the oscillators', and tracked later; it is no noise. */
    common = cf32_turn((double)cf32_angle(common) / TWO_PI);
    for (unsigned i = 0; i < USED_CARRIERS; i++) {
        unsigned k = (unsigned)tables->used[i] & 63;
        difference += cf32_power(cf32_sub(a[k], cf32_mul(b[k], common)));
    }
    /* The floor keeps a signal without any noise from a division by zero. */
    segment->noise = difference / (2 * USED_CARRIERS) + 1e-9F * PENSTOCK__WIFI_FFT;
}
