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

/* Bins of a symbol, seen `later` samples behind the start of its FFT window. */
static penstock_cf32 see_later(const struct penstock__wifi_tables *tables, penstock_cf32 value, unsigned k,
                               size_t later)
{
    return cf32_mul_conj(value, tables->twiddle[k * later % PENSTOCK__WIFI_FFT]);
}

void penstock__wifi_symbol(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                           unsigned index, penstock_cf32 *bins)
{
    size_t guard_end = segment->first + 2 * PENSTOCK__WIFI_FFT + PENSTOCK__WIFI_GUARD + index * PENSTOCK__WIFI_SYMBOL;
    penstock__wifi_fft(tables, bins, segment->rotated + guard_end - WINDOW_OFFSET);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
        bins[k] = see_later(tables, bins[k], k, WINDOW_OFFSET);
}

void penstock__wifi_smooth(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                           float variance)
{
    const struct frame_kernels *kernels = penstock__frame_kernels();
    struct frame_carriers in = {{0}, {0}}, out = {{0}, {0}};
    unsigned taps = 0;
    bool found = false;
    memset(segment->channel, 0, sizeof segment->channel);
    for (unsigned c = 0; c < USED_CARRIERS; c++) {
        in.re[c] = segment->least_squares[tables->used[c] & 63].re;
        in.im[c] = segment->least_squares[tables->used[c] & 63].im;
    }
    for (unsigned i = 0; i < 3 && !found; i++) {
        float limit = TOLERANCE * variance * (USED_CARRIERS - tables->smooth_rank[i]);
        found = kernels->project(&out, &in, tables->smooth + taps, tables->smooth_taps[i] - taps) <= limit;
        taps = tables->smooth_taps[i];
    }
    if (!found) /* a longer response than a guard interval, or so little noise that the smoothing itself would show */
        out = in;
    for (unsigned c = 0; c < USED_CARRIERS; c++)
        segment->channel[tables->used[c] & 63] = (penstock_cf32){out.re[c], out.im[c]};
}

/* The sum of a[k] conj(b[k]) over the used carriers. */
static penstock_cf32 correlate_used(const penstock_cf32 *a, const penstock_cf32 *b)
{
    penstock_cf32 sums[4] = {{0, 0}};
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += 4)
        for (unsigned i = 0; i < 4; i++) {
            const float known = penstock__wifi_long_training[k + i].re;
            sums[i] = cf32_add(sums[i], cf32_scale(cf32_mul_conj(a[k + i], b[k + i]), known * known));
        }
    return cf32_sum4(sums);
}

/* The power of a - `turn` b on these. */
static float compare_used(const penstock_cf32 *a, const penstock_cf32 *b, penstock_cf32 turn)
{
    float sums[4] = {0};
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += 4)
        for (unsigned i = 0; i < 4; i++) {
            const float known = penstock__wifi_long_training[k + i].re;
            sums[i] += known * known * cf32_power(cf32_sub(a[k + i], cf32_mul(b[k + i], turn)));
        }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void penstock__wifi_estimate(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment)
{
    penstock_cf32 a[PENSTOCK__WIFI_FFT], b[PENSTOCK__WIFI_FFT];
    const size_t later = segment->first - segment->window;
    penstock__wifi_fft(tables, a, segment->rotated + segment->window);
    penstock__wifi_fft(tables, b, segment->rotated + segment->window + PENSTOCK__WIFI_FFT);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        float known = penstock__wifi_long_training[k].re;
        segment->least_squares[k] = see_later(tables, cf32_scale(cf32_add(a[k], b[k]), 0.5F * known), k, later);
    }
    /* A phase between the two is the oscillators', and tracked later; it is no noise. */
    const penstock_cf32 common = cf32_turn((double)cf32_angle(correlate_used(a, b)) / TWO_PI);
    /* The floor keeps a signal without any noise from a division by zero. */
    segment->noise = compare_used(a, b, common) / (2 * USED_CARRIERS) + 1e-9F * PENSTOCK__WIFI_FFT;
}
