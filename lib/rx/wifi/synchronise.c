/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * From a short training field to exact timing and carrier offset. The two long symbols are added and correlated with
 * the known one; what a channel of up to 16 samples gathers of their energy decides whether they are there at
 * all, so that echoes do not count against a frame. The first path is the first peak of the channel's impulse response.
 */
#include "rx/wifi/frame_kernels.h"

#include <string.h>

/* First and last place of the long symbol in a segment: the short field's window starts BEFORE samples in, and the long
 * symbol 112 .. 240 samples after that. Nothing here looks further than to the last place's second symbol. */
#define SEARCH_FROM 208
#define SEARCH_TO   (BEFORE + LONG_FIELD - SPREAD - 2 * PENSTOCK__WIFI_FFT)

#define TRAINED       (BEFORE + LONG_FIELD) /* one past the last sample that the search for the long field reads */
#define SPREAD        16                    /* samples over which echoes arrive */
#define GATHERED      0.35F  /* share of the energy: noise gathers 0.13, deviation 0.035; a frame at 0 dB 0.55 */
#define FAINT         0.02F  /* of the short field's power: less is no long field, but what is left of silence */
#define REFINE_BEFORE 16     /* samples of the long field's guard interval that the offset's estimate uses */
#define REFINED       76     /* products of the two long symbols that it uses */
#define BACK_OFF      14     /* from the strongest path to the FFT window: a path this much earlier still fits */
#define FIRST_PATH    0.126F /* of the strongest path's power: -9 dB */

/* The lags at which the long symbols may begin, the samples of both, and those that they arrive in by all paths. */
enum {
    LAGS = SEARCH_TO - SEARCH_FROM + SPREAD,
    BOTH = 2 * PENSTOCK__WIFI_FFT,
    ARRIVAL = BOTH + SPREAD,
    ARRIVALS = LAGS - SPREAD + 1
};

/* Samples `from` .. `from` + 16 `count` without the carrier offset, whose phase is zero at 0. */
static void rotate(penstock_cf32 *out, const penstock_cf32 *in, double cfo, size_t from, size_t count)
{
    penstock_cf32 anchors[SEGMENT / ROTATION];
    penstock_cf32 turns[ROTATION] = {{1, 0}}, step = cf32_turn(-cfo);
    for (unsigned have = 1; have < ROTATION; have *= 2, step = cf32_mul(step, step))
        for (unsigned k = 0; k < have; k++)
            turns[have + k] = cf32_mul(turns[k], step);
    for (size_t i = 0; i < count; i++)
        anchors[i] = cf32_turn(-cfo * (double)(from + i * ROTATION));
    penstock__frame_kernels()->rotate(out, in, turns, anchors, count);
}

void penstock__wifi_rotate(struct penstock__wifi_segment *segment, size_t from, size_t to)
{
    const size_t first = from / ROTATION * ROTATION;
    rotate(segment->rotated + first, segment->raw + first, segment->cfo, first, (to - first + ROTATION - 1) / ROTATION);
}

/* What is left so of a constant one. */
static void make_tone(penstock_cf32 *tone, double cfo, size_t from, size_t count)
{
    penstock_cf32 ones[LAGS + ROTATION];
    for (size_t i = 0; i < count; i++)
        ones[i] = (penstock_cf32){1, 0};
    rotate(tone, ones, cfo, from, count / ROTATION);
}

struct arrivals {
    float re[LAGS + BOTH], im[LAGS + BOTH], power[LAGS + BOTH];
};

/* Each value becomes the sum of the ARRIVAL that begin with it. */
static void add_arrivals(const struct frame_kernels *kernels, float *values)
{
    float of_spread[ARRIVALS + BOTH];
    kernels->slide(values, ARRIVALS + BOTH, 1, SPREAD);
    memcpy(of_spread, values, sizeof of_spread);
    kernels->slide(values, ARRIVALS, SPREAD, BOTH);
    for (unsigned i = 0; i < ARRIVALS; i++)
        values[i] += of_spread[i + BOTH];
}

/*
 * Mean of the samples in which the two symbols arrive, and their power without it, in all ways that this can lie. It
 * is not the mean of the short field's window where that lies across a frame's end: then what is taken out of the
 * silence behind the frame is left there as a constant, which gathers as well as a long field.
 */
static void measure_arrivals(const struct penstock__wifi_segment *segment, struct arrivals *arrivals)
{
    const struct frame_kernels *kernels = penstock__frame_kernels();
    const penstock_cf32 *x = segment->raw + SEARCH_FROM;
    float *re = arrivals->re, *im = arrivals->im, *power = arrivals->power;
    for (unsigned i = 0; i < LAGS + BOTH; i++) {
        re[i] = x[i].re;
        im[i] = x[i].im;
        power[i] = cf32_power(x[i]);
    }
    add_arrivals(kernels, re);
    add_arrivals(kernels, im);
    add_arrivals(kernels, power);
    for (unsigned i = 0; i < ARRIVALS; i++) {
        re[i] *= 1.0F / ARRIVAL;
        im[i] *= 1.0F / ARRIVAL;
        power[i] = power[i] * (1.0F / ARRIVAL) - (re[i] * re[i] + im[i] * im[i]);
    }
}

/* What a constant one adds to the correlation at lag 0; at lag i it is turned by the rotation at i. */
static penstock_cf32 correlate_constant(const struct penstock__wifi_tables *tables, double cfo)
{
    const penstock_cf32 twice = cf32_add((penstock_cf32){1, 0}, cf32_turn(-cfo * PENSTOCK__WIFI_FFT));
    penstock_cf32 tone[PENSTOCK__WIFI_FFT], sums[4] = {{0, 0}};
    make_tone(tone, cfo, 0, PENSTOCK__WIFI_FFT);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += 4)
        for (unsigned i = 0; i < 4; i++)
            sums[i] = cf32_add(sums[i], cf32_mul(tone[k + i], tables->long_time[k + i]));
    return cf32_mul(cf32_sum4(sums), twice);
}

/* Correlation with the long symbol at each lag, of both symbols' sum. */
static void correlate(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                      float *re, float *im)
{
    enum { SUMS = LAGS + PENSTOCK__WIFI_FFT };
    const penstock_cf32 *x = segment->rotated + SEARCH_FROM;
    float sum_re[SUMS], sum_im[SUMS];
    for (unsigned i = 0; i < SUMS; i++) {
        sum_re[i] = x[i].re + x[i + PENSTOCK__WIFI_FFT].re;
        sum_im[i] = x[i].im + x[i + PENSTOCK__WIFI_FFT].im;
    }
    penstock__frame_kernels()->correlate(re, im, LAGS, sum_re, sum_im, tables->long_time);
}

/* Power of each lag's correlation, without what the mean adds to it. */
static void weigh_lags(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                       const struct arrivals *arrivals, float *power)
{
    const penstock_cf32 constant = correlate_constant(tables, segment->cfo);
    penstock_cf32 tone[LAGS];
    float re[LAGS], im[LAGS];
    correlate(tables, segment, re, im);
    make_tone(tone, segment->cfo, SEARCH_FROM, LAGS);
    for (unsigned i = 0; i < LAGS; i++) {
        const unsigned of = i < ARRIVALS ? i : ARRIVALS - 1;
        const penstock_cf32 mean = {arrivals->re[of], arrivals->im[of]},
                            of_mean = cf32_mul(cf32_mul(mean, tone[i]), constant);
        power[i] = cf32_power(cf32_sub((penstock_cf32){re[i], im[i]}, of_mean));
    }
}

/* Where the long symbol begins as its strongest path tells; 0: nowhere. */
static size_t find_long_symbol(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment)
{
    struct arrivals arrivals;
    float power[LAGS], gathered[LAGS], best_share = 0;
    unsigned best = 0, strongest;
    measure_arrivals(segment, &arrivals);
    weigh_lags(tables, segment, &arrivals, power);
    memcpy(gathered, power, sizeof gathered);
    penstock__frame_kernels()->slide(gathered, ARRIVALS, 1, SPREAD);
    for (unsigned i = 0; i < ARRIVALS; i++) {
        const float available = 2 * BOTH * arrivals.power[i]; /* of both symbols' sum */
        if (arrivals.power[i] > FAINT && gathered[i] > best_share * available) {
            best_share = gathered[i] / available;
            best = i;
        }
    }
    if (!(best_share >= GATHERED))
        return 0;
    strongest = best;
    for (unsigned i = best; i < best + SPREAD; i++)
        if (power[i] > power[strongest])
            strongest = i;
    return SEARCH_FROM + strongest;
}

/* Carrier offset from the long symbols' distance of 64 samples; ambiguous by 1/64 turn a sample, which the
 * short field's estimate has settled. */
static void refine_offset(struct penstock__wifi_segment *segment, size_t strongest)
{
    const penstock_cf32 *x = segment->rotated + strongest - REFINE_BEFORE;
    penstock_cf32 sums[4] = {{0, 0}};
    for (size_t k = 0; k < REFINED; k += 4)
        for (size_t i = 0; i < 4; i++)
            sums[i] = cf32_add(sums[i], cf32_mul_conj(x[k + i + PENSTOCK__WIFI_FFT], x[k + i]));
    segment->cfo += (double)cf32_angle(cf32_sum4(sums)) / (TWO_PI * PENSTOCK__WIFI_FFT);
}

/* Delay from the FFT window's start to the first peak of the impulse response that is nearly as strong as the
 * strongest one. */
static size_t first_path(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment)
{
    penstock_cf32 both[PENSTOCK__WIFI_FFT], bins[PENSTOCK__WIFI_FFT], response[PENSTOCK__WIFI_FFT];
    float power[2 * BACK_OFF + 2], strongest = 0;
    for (unsigned i = 0; i < PENSTOCK__WIFI_FFT; i++)
        both[i] =
            cf32_add(segment->rotated[segment->window + i], segment->rotated[segment->window + i + PENSTOCK__WIFI_FFT]);
    penstock__wifi_fft(tables, bins, both);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
        bins[k] = cf32_scale(bins[k], penstock__wifi_long_training[k].re * tables->delay_window[k]);
    bins[0] = cf32_scale(cf32_add(bins[1], bins[63]), 0.5F);
    penstock__wifi_fft(tables, response, bins); /* forward: delay d is at (64 - d) mod 64 */
    for (unsigned d = 0; d < 2 * BACK_OFF + 2; d++) {
        power[d] = cf32_power(response[(64 - d) & 63]);
        strongest = power[d] > strongest ? power[d] : strongest;
    }
    for (unsigned d = 0; d <= 2 * BACK_OFF; d++) {
        float before = d ? power[d - 1] : cf32_power(response[1]);
        if (power[d] >= FIRST_PATH * strongest && power[d] >= before && power[d] >= power[d + 1])
            return d;
    }
    return BACK_OFF;
}

/*
 * DC as the long symbols tell: once the carrier offset is taken out it is a tone, whose part outside the training
 * symbols' carriers cannot be signal. What is not clearly above the noise is left alone.
 */
static penstock_cf32 find_dc(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment)
{
    penstock_cf32 tone[BOTH], both[PENSTOCK__WIFI_FFT], bins[PENSTOCK__WIFI_FFT], sums[4] = {{0, 0}};
    const penstock_cf32 *x = segment->rotated + segment->window;
    float energy[4] = {0};
    make_tone(tone, segment->cfo, segment->window, BOTH);
    for (unsigned i = 0; i < PENSTOCK__WIFI_FFT; i++)
        both[i] = cf32_add(tone[i], tone[i + PENSTOCK__WIFI_FFT]);
    penstock__wifi_fft(tables, bins, both);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        float used = penstock__wifi_long_training[k].re;
        bins[k] = (penstock_cf32){bins[k].re * used * used, -bins[k].im * used * used};
    }
    penstock__wifi_fft(tables, both, bins); /* of the conjugate, so that this is the conjugate of the inverse */
    for (unsigned k = 0; k < BOTH; k += 4)
        for (unsigned i = 0; i < 4; i++) {
            const penstock_cf32 known = cf32_scale(both[(k + i) % PENSTOCK__WIFI_FFT], 1.0F / BOTH),
                                left = {tone[k + i].re - known.re, tone[k + i].im + known.im};
            energy[i] += cf32_power(left);
            sums[i] = cf32_add(sums[i], cf32_mul_conj(x[k + i], left));
        }
    return cf32_scale(cf32_sum4(sums), 1 / ((energy[0] + energy[1]) + (energy[2] + energy[3])));
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
    penstock_cf32 both[PENSTOCK__WIFI_FFT], bins[PENSTOCK__WIFI_FFT], sum = {0, 0};
    const penstock_cf32 *x = segment->rotated + short_window(segment);
    for (unsigned i = 0; i < PENSTOCK__WIFI_FFT; i++)
        both[i] = cf32_add(x[i], x[i + PENSTOCK__WIFI_FFT]);
    penstock__wifi_fft(tables, bins, both);
    for (unsigned k = 4; k <= 24; k += 4)
        for (unsigned side = 0; side < 2; side++) {
            unsigned bin = side ? 64 - k : k;
            penstock_cf32 sent = cf32_mul(penstock__wifi_short_training[bin], segment->channel[bin]);
            penstock_cf32 seen = cf32_mul_conj(bins[bin], tables->twiddle[bin * WINDOW_OFFSET % PENSTOCK__WIFI_FFT]);
            sum = cf32_add(sum, cf32_mul_conj(seen, sent));
        }
    segment->cfo -= (double)cf32_angle(sum) / (TWO_PI * 176);
}

/* Settles the mean to take out; `segment->noise` must be known. */
static void settle_dc(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment)
{
    const penstock_cf32 dc = cf32_add(cf32_scale(segment->mean, segment->scale), find_dc(tables, segment));
    float variance = segment->noise / PENSTOCK__WIFI_FFT / (2 * PENSTOCK__WIFI_FFT);
    segment->mean = cf32_power(dc) < 8 * variance ? (penstock_cf32){0, 0} : cf32_scale(dc, 1 / segment->scale);
}

static void scale(struct penstock__wifi_segment *segment, const penstock_cf32 *samples, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        segment->raw[i] = cf32_scale(cf32_sub(samples[i], segment->mean), segment->scale);
}

bool penstock__wifi_synchronise(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                                int64_t position, const penstock_cf32 *samples)
{
    const struct penstock__wifi_window window = penstock__wifi_window(samples + BEFORE);
    size_t strongest;
    segment->base = position - BEFORE;
    segment->mean = window.mean;
    segment->scale = 1 / sqrtf(window.power);
    scale(segment, samples, SEARCH_FROM - REFINE_BEFORE, TRAINED);
    segment->cfo = (double)cf32_angle(window.lag) / (TWO_PI * GROUP);
    penstock__wifi_rotate(segment, SEARCH_FROM - REFINE_BEFORE, TRAINED);
    if (!(strongest = find_long_symbol(tables, segment)))
        return false;

    refine_offset(segment, strongest);
    segment->window = strongest - BACK_OFF;
    penstock__wifi_rotate(segment, segment->window, segment->window + BOTH);
    segment->first = segment->window + first_path(tables, segment);
    penstock__wifi_estimate(tables, segment);
    settle_dc(tables, segment);
    scale(segment, samples, 0, SEGMENT);
    penstock__wifi_rotate(segment, segment->window, segment->window + BOTH);
    penstock__wifi_rotate(segment, short_window(segment), short_window(segment) + BOTH);
    penstock__wifi_estimate(tables, segment);
    penstock__wifi_smooth(tables, segment, segment->noise / 2);
    compare_fields(tables, segment);
    penstock__wifi_rotate(segment, segment->window, segment->first + SIGNAL_END);
    penstock__wifi_estimate(tables, segment);
    penstock__wifi_smooth(tables, segment, segment->noise / 2);
    return true;
}
