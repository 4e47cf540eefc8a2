/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * From a short training field to exact timing and carrier offset. The two long symbols are added and correlated with
 * the known one; what a channel of up to 16 samples gathers of their energy decides whether they are there at
 * all, so that echoes do not count against a frame. The first path is the first peak of the channel's impulse response.
 */
#include "rx/wifi/synchronise_kernels.h"
#include "vector/instructions.h"

#define TRAINED       (BEFORE + LONG_FIELD) /* one past the last sample that the search for the long field reads */
#define GATHERED      0.35F  /* share of the energy: noise gathers 0.13, deviation 0.035; a frame at 0 dB 0.55 */
#define REFINE_BEFORE 16     /* samples of the long field's guard interval that the offset's estimate uses */
#define REFINED       76     /* products of the two long symbols that it uses */
#define BACK_OFF      14     /* from the strongest path to the FFT window: a path this much earlier still fits */
#define FIRST_PATH    0.126F /* of the strongest path's power: -9 dB */
#define UNUSED_FIRST  27     /* carriers that nobody uses, by bin, besides that of DC */
#define UNUSED_LAST   37

const struct sync_kernels *penstock__sync_kernels(void)
{
    const struct sync_kernels *avx2 = AVX2_BUILD(&penstock__sync_kernels_avx2);
    return avx2 ? avx2 : &penstock__sync_kernels_plain;
}

static size_t steps_to(size_t first, size_t to)
{
    return (to - first + ROTATION - 1) / ROTATION;
}

void penstock__wifi_turn(struct penstock__wifi_segment *segment, size_t from, size_t to)
{
    const size_t first = from / ROTATION * ROTATION;
    penstock__sync_kernels()->turn(&segment->phases, segment->correction.cfo, first, steps_to(first, to));
}

void penstock__wifi_rotate(struct penstock__wifi_segment *segment, size_t from, size_t to)
{
    const size_t first = from / ROTATION * ROTATION;
    penstock__sync_kernels()->rotate(segment->re + first, segment->im + first, segment->samples + first,
                                     &segment->correction, &segment->phases, (first - segment->phases.from) / ROTATION,
                                     steps_to(first, to));
}

/*
 * Where the long symbol begins as its strongest path tells; 0: nowhere. The mean that counts is that of the samples in
 * which the two symbols arrive. It is not that of the short field's window where that lies across a frame's end: then
 * what is taken out of the silence behind the frame is left there as a constant, which gathers as well as a long field.
 */
static size_t find_long_symbol(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment)
{
    const struct sync_kernels *kernels = penstock__sync_kernels();
    struct sync_arrivals arrivals;
    struct sync_lags lags;
    kernels->arrive(&arrivals, segment->samples + SEARCH_FROM, &segment->correction);
    kernels->correlate(&lags, segment->re + SEARCH_FROM, segment->im + SEARCH_FROM, &tables->correlator);
    const unsigned best = kernels->weigh(&lags, &arrivals, &segment->phases, &tables->long_time);
    unsigned strongest = best;
    if (!(lags.share[best] >= GATHERED))
        return 0;
    for (unsigned i = best; i < best + SPREAD; i++)
        if (lags.power[i] > lags.power[strongest])
            strongest = i;
    return SEARCH_FROM + strongest;
}

/* Carrier offset from the long symbols' distance of 64 samples; ambiguous by 1/64 turn a sample, which the
 * short field's estimate has settled. */
static void refine_offset(struct penstock__wifi_segment *segment, size_t strongest)
{
    const float *re = segment->re + strongest - REFINE_BEFORE, *im = segment->im + strongest - REFINE_BEFORE;
    float sum_re[4] = {0}, sum_im[4] = {0};
    for (size_t k = 0; k < REFINED; k += 4)
        for (size_t i = k; i < k + 4; i++) {
            const size_t later = i + PENSTOCK__WIFI_FFT;
            sum_re[i - k] += re[later] * re[i] + im[later] * im[i];
            sum_im[i - k] += im[later] * re[i] - re[later] * im[i];
        }
    const penstock_cf32 sum = {(sum_re[0] + sum_re[1]) + (sum_re[2] + sum_re[3]),
                               (sum_im[0] + sum_im[1]) + (sum_im[2] + sum_im[3])};
    segment->correction.cfo += (double)cf32_angle(sum) / (TWO_PI * PENSTOCK__WIFI_FFT);
}

/* Delay from the FFT window's start to the first peak of the impulse response that is nearly as strong as the
 * strongest one. `both`: bins of the long symbols' sum. */
static size_t first_path(const struct penstock__wifi_tables *tables, const struct penstock__wifi_bins *both)
{
    struct penstock__wifi_bins bins, response;
    float power[PENSTOCK__WIFI_FFT], strongest = 0;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        bins.re[k] = both->re[k] * tables->delay_window[k];
        bins.im[k] = both->im[k] * tables->delay_window[k];
    }
    bins.re[0] = 0.5F * (bins.re[1] + bins.re[63]);
    bins.im[0] = 0.5F * (bins.im[1] + bins.im[63]);
    penstock__wifi_transform(tables, &response, &bins); /* forward: delay d is at (64 - d) mod 64 */
    for (unsigned i = 0; i < PENSTOCK__WIFI_FFT; i++)
        power[i] = response.re[i] * response.re[i] + response.im[i] * response.im[i];
    for (unsigned d = 0; d < 2 * BACK_OFF + 2; d++)
        strongest = power[(64 - d) & 63] > strongest ? power[(64 - d) & 63] : strongest;
    for (unsigned d = 0; d <= 2 * BACK_OFF; d++) {
        const float here = power[(64 - d) & 63], before = power[(65 - d) & 63], behind = power[63 - d];
        if (here >= FIRST_PATH * strongest && here >= before && here >= behind)
            return d;
    }
    return BACK_OFF;
}

/* The sum of 64 samples without the mean. */
static penstock_cf32 add_symbol(const penstock_cf32 *samples, penstock_cf32 mean)
{
    penstock_cf32 sums[4] = {{0, 0}};
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += 4)
        for (unsigned i = 0; i < 4; i++)
            sums[i] = cf32_add(sums[i], cf32_sub(samples[k + i], mean));
    return cf32_sum4(sums);
}

/*
 * DC as the long symbols tell: once the carrier offset is taken out it is a tone, whose part outside the training
 * symbols' carriers cannot be signal. That is what differs between the symbols, and of their sum what lies on carriers
 * that nobody uses. The tone t in the first symbol is `w` t in the second one; of a bin k it makes the sum of a
 * geometric series. `both`: bins of the long symbols' sum.
 */
static penstock_cf32 find_dc(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                             const struct penstock__wifi_bins *both)
{
    const double cfo = segment->correction.cfo;
    const penstock_cf32 one = {1, 0}, *x = segment->samples + segment->window, z = cf32_turn(-cfo),
                        w = cf32_turn(-cfo * PENSTOCK__WIFI_FFT), apart = cf32_sub(one, w),
                        mean_of_both =
                            cf32_scale(cf32_mul(cf32_turn(-cfo * (double)segment->window), cf32_add(one, w)), 0.5F);
    penstock_cf32 series = cf32_add(one, z);
    for (unsigned n = 2; n < PENSTOCK__WIFI_FFT; n *= 2)
        series = cf32_mul(series, cf32_add(one, cf32_turn(-cfo * n)));
    penstock_cf32 tone = cf32_mul(series, mean_of_both),
                  sum = cf32_mul_conj((penstock_cf32){both->re[0], both->im[0]}, tone);
    float energy = cf32_power(tone);
    for (unsigned k = UNUSED_FIRST; k <= UNUSED_LAST; k++) {
        const penstock_cf32 below = cf32_sub(one, cf32_mul(z, tables->twiddle[k]));
        tone = cf32_scale(cf32_mul(cf32_mul_conj(apart, below), mean_of_both), 1 / cf32_power(below));
        sum = cf32_add(sum, cf32_mul_conj((penstock_cf32){both->re[k], both->im[k]}, tone));
        energy += cf32_power(tone);
    }
    const penstock_cf32 first = add_symbol(x, segment->correction.mean),
                        second = add_symbol(x + PENSTOCK__WIFI_FFT, segment->correction.mean),
                        difference = cf32_mul_conj(cf32_sub(first, cf32_mul(second, w)), apart);
    sum =
        cf32_add(cf32_scale(sum, 1.0F / PENSTOCK__WIFI_FFT), cf32_scale(difference, 0.5F * segment->correction.scale));
    energy = (2.0F / PENSTOCK__WIFI_FFT) * energy + (PENSTOCK__WIFI_FFT / 2) * cf32_power(apart);
    return cf32_scale(sum, 1 / energy);
}

/* Where the windows in the short training field begin, whose last sample is WINDOW_OFFSET before the guard interval. */
static size_t short_window(const struct penstock__wifi_segment *segment)
{
    return segment->first - SHORT_TO_LONG + GROUP - WINDOW_OFFSET;
}

/*
 * Offset from the phase between short and long training field, 176 samples apart, the channel being known from the
 * latter: five times as exact as the distance between the long symbols.
 */
static void compare_fields(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment)
{
    const size_t window = short_window(segment);
    struct penstock__wifi_bins bins;
    penstock_cf32 sum = {0, 0};
    penstock__wifi_transform_sum(tables, &bins, segment->re + window, segment->im + window);
    for (unsigned k = 4; k <= 24; k += 4)
        for (unsigned side = 0; side < 2; side++) {
            const unsigned bin = side ? 64 - k : k;
            const penstock_cf32 channel = {segment->channel.re[bin], segment->channel.im[bin]},
                                sent = cf32_mul(penstock__wifi_short_training[bin], channel),
                                seen = cf32_mul_conj((penstock_cf32){bins.re[bin], bins.im[bin]},
                                                     tables->twiddle[bin * WINDOW_OFFSET % PENSTOCK__WIFI_FFT]);
            sum = cf32_add(sum, cf32_mul_conj(seen, sent));
        }
    segment->correction.cfo -= (double)cf32_angle(sum) / (TWO_PI * 176);
}

/* Where the first path begins, and the mean to take out: DC that is not clearly above the noise is left alone. */
static void settle(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment)
{
    struct penstock__wifi_correction *correction = &segment->correction;
    struct penstock__wifi_bins a, b;
    penstock__wifi_transform_both(tables, &a, &b, segment->re + segment->window, segment->im + segment->window);
    const float noise = penstock__wifi_noise(tables, &a, &b),
                variance = noise / PENSTOCK__WIFI_FFT / (2 * PENSTOCK__WIFI_FFT);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        a.re[k] += b.re[k];
        a.im[k] += b.im[k];
    }
    segment->first = segment->window + first_path(tables, &a);
    const penstock_cf32 dc = cf32_add(cf32_scale(correction->mean, correction->scale), find_dc(tables, segment, &a));
    correction->mean = cf32_power(dc) < 8 * variance ? (penstock_cf32){0, 0} : cf32_scale(dc, 1 / correction->scale);
}

bool penstock__wifi_synchronise(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                                int64_t position, const penstock_cf32 *samples)
{
    const struct penstock__wifi_window window = penstock__wifi_window(samples + BEFORE);
    size_t strongest;
    segment->base = position - BEFORE;
    segment->samples = samples;
    segment->correction = (struct penstock__wifi_correction){.mean = window.mean,
                                                             .scale = 1 / sqrtf(window.power),
                                                             .cfo = (double)cf32_angle(window.lag) / (TWO_PI * GROUP)};
    penstock__wifi_turn(segment, SEARCH_FROM - ROTATION, TRAINED);
    penstock__wifi_rotate(segment, SEARCH_FROM - ROTATION, TRAINED);
    if (!(strongest = find_long_symbol(tables, segment)))
        return false;

    refine_offset(segment, strongest);
    segment->window = strongest - BACK_OFF;
    penstock__wifi_turn(segment, segment->window - SHORT_TO_LONG, segment->window + BOTH);
    penstock__wifi_rotate(segment, segment->window, segment->window + BOTH);
    settle(tables, segment);
    penstock__wifi_rotate(segment, segment->window, segment->window + BOTH);
    penstock__wifi_rotate(segment, short_window(segment), short_window(segment) + BOTH);
    penstock__wifi_estimate(tables, segment);
    penstock__wifi_smooth(tables, segment, segment->noise / 2);
    compare_fields(tables, segment);
    penstock__wifi_turn(segment, segment->window, segment->first + SIGNAL_END);
    penstock__wifi_rotate(segment, segment->window, segment->first + SIGNAL_END);
    penstock__wifi_estimate(tables, segment);
    penstock__wifi_smooth(tables, segment, segment->noise / 2);
    return true;
}
