/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * From a short training field to exact timing and carrier offset. The two long symbols are added and correlated with
 * the known one; what a channel of up to 16 samples gathers of their energy decides whether they are there at
 * all, so that echoes do not count against a frame. The first path is the first peak of the channel's impulse response.
 */
#include "rx/wifi/frame_kernels.h"

/* First and last place of the long symbol in a segment: the short field's window starts BEFORE samples in, and the long
 * symbol 112 .. 240 samples after that. Nothing here looks further than to the last place's second symbol. */
#define SEARCH_FROM 208
#define SEARCH_TO   (BEFORE + LONG_FIELD - SPREAD - 2 * PENSTOCK__WIFI_FFT)

#define TRAINED       (BEFORE + LONG_FIELD) /* one past the last sample that the search for the long field reads */
#define SPREAD        16                    /* samples over which echoes arrive */
#define GATHERED      0.35   /* share of the energy: noise gathers 0.13, deviation 0.035; a frame at 0 dB 0.55 */
#define FAINT         0.02   /* of the short field's power: less is no long field, but what is left of silence */
#define REFINE_BEFORE 16     /* samples of the long field's guard interval that the offset's estimate uses */
#define BACK_OFF      14     /* from the strongest path to the FFT window: a path this much earlier still fits */
#define FIRST_PATH    0.126F /* of the strongest path's power: -9 dB */

void penstock__wifi_rotate(struct penstock__wifi_segment *segment, size_t from, size_t to)
{
    penstock_cf32 anchors[SEGMENT / ROTATION];
    const size_t count = (to - from + ROTATION - 1) / ROTATION;
    penstock_cf32 turns[ROTATION] = {{1, 0}}, step = cf32_turn(-segment->cfo);
    for (unsigned have = 1; have < ROTATION; have *= 2, step = cf32_mul(step, step))
        for (unsigned k = 0; k < have; k++)
            turns[have + k] = cf32_mul(turns[k], step);
    /* From anchor to anchor in double: what rounding adds in a segment is far below a float's. */
    const double angle = -TWO_PI * segment->cfo, c = cos(angle * ROTATION), s = sin(angle * ROTATION);
    double re = cos(angle * (double)from), im = sin(angle * (double)from);
    for (size_t i = 0; i < count; i++) {
        anchors[i] = (penstock_cf32){(float)re, (float)im};
        const double next = re * c - im * s;
        im = re * s + im * c;
        re = next;
    }
    penstock__frame_kernels()->rotate(segment->rotated + from, segment->raw + from, turns, anchors, count);
}

/* The lags at which the long symbols may begin, the samples of both, and those that they arrive in by all paths. */
enum {
    LAGS = SEARCH_TO - SEARCH_FROM + SPREAD,
    BOTH = 2 * PENSTOCK__WIFI_FFT,
    ARRIVAL = BOTH + SPREAD,
    ARRIVALS = LAGS - SPREAD + 1
};

/*
 * Mean of the samples in which the two symbols arrive, and their energy without it, in all ways that this can lie. It
 * is not the mean of the short field's window where that lies across a frame's end: then what is taken out of the
 * silence behind the frame is left there as a constant, which gathers as well as a long field.
 */
static void measure_arrivals(const struct penstock__wifi_segment *segment, penstock_cf32 *mean, double *energy)
{
    const penstock_cf32 *x = segment->raw + SEARCH_FROM;
    double re[LAGS + BOTH + 1] = {0}, im[LAGS + BOTH + 1] = {0}, power[LAGS + BOTH + 1] = {0};
    /* Sums up to each place, in double: their differences keep the precision of float. */
    for (unsigned i = 0; i < LAGS + BOTH; i++) {
        re[i + 1] = re[i] + (double)x[i].re;
        im[i + 1] = im[i] + (double)x[i].im;
        power[i + 1] = power[i] + (double)cf32_power(x[i]);
    }
    for (unsigned i = 0; i < ARRIVALS; i++) {
        mean[i].re = (float)((re[i + ARRIVAL] - re[i]) / ARRIVAL);
        mean[i].im = (float)((im[i + ARRIVAL] - im[i]) / ARRIVAL);
        energy[i] = power[i + ARRIVAL] - power[i] - ARRIVAL * (double)cf32_power(mean[i]);
    }
}

/* What a constant one adds to the correlation at lag 0; at lag i it is turned by the rotation at i. */
static penstock_cf32 correlate_constant(const struct penstock__wifi_tables *tables, double cfo)
{
    penstock_cf32 sum = {0, 0}, twice = cf32_add((penstock_cf32){1, 0}, cf32_turn(-cfo * PENSTOCK__WIFI_FFT));
    penstock_cf32 turn = {1, 0}, step = cf32_turn(-cfo);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        sum = cf32_add(sum, cf32_mul(turn, tables->long_time[k]));
        turn = (k + 1) % ROTATION ? cf32_mul(turn, step) : cf32_turn(-cfo * (double)(k + 1));
    }
    return cf32_mul(sum, twice);
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

/* Where the long symbol begins as its strongest path tells; 0: nowhere. */
static size_t find_long_symbol(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment)
{
    const penstock_cf32 constant = correlate_constant(tables, segment->cfo), step = cf32_turn(-segment->cfo);
    penstock_cf32 mean[ARRIVALS], turn = {1, 0};
    float re[LAGS], im[LAGS];
    double energy[ARRIVALS], power[LAGS + 1] = {0}, best_share = 0; /* `power`: sums up to each lag */
    unsigned best = 0, strongest;
    correlate(tables, segment, re, im);
    measure_arrivals(segment, mean, energy);
    for (unsigned i = 0; i < LAGS; i++) {
        turn = i % ROTATION ? cf32_mul(turn, step) : cf32_turn(-segment->cfo * (double)(SEARCH_FROM + i));
        penstock_cf32 of_mean = cf32_mul(cf32_mul(mean[i < ARRIVALS ? i : ARRIVALS - 1], turn), constant);
        power[i + 1] = power[i] + (double)cf32_power(cf32_sub((penstock_cf32){re[i], im[i]}, of_mean));
    }
    for (unsigned i = 0; i < ARRIVALS; i++) {
        double gathered = power[i + SPREAD] - power[i], available = energy[i] * BOTH / ARRIVAL;
        if (available > FAINT * BOTH && gathered > best_share * 2 * available) {
            best_share = gathered / (2 * available);
            best = i;
        }
    }
    if (!(best_share >= GATHERED))
        return 0;
    strongest = best;
    for (unsigned i = best; i < best + SPREAD; i++)
        if (power[i + 1] - power[i] > power[strongest + 1] - power[strongest])
            strongest = i;
    return SEARCH_FROM + strongest;
}

/* Carrier offset from the long symbols' distance of 64 samples; ambiguous by 1/64 turn a sample, which the
 * short field's estimate has settled. */
static void refine_offset(struct penstock__wifi_segment *segment, size_t strongest)
{
    penstock_cf32 sum = {0, 0};
    for (size_t i = strongest - REFINE_BEFORE; i < strongest + 60; i++)
        sum = cf32_add(sum, cf32_mul_conj(segment->rotated[i + PENSTOCK__WIFI_FFT], segment->rotated[i]));
    segment->cfo += (double)cf32_angle(sum) / (TWO_PI * PENSTOCK__WIFI_FFT);
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
    penstock_cf32 tone[2 * PENSTOCK__WIFI_FFT], both[PENSTOCK__WIFI_FFT], bins[PENSTOCK__WIFI_FFT];
    const penstock_cf32 *x = segment->rotated + segment->window;
    penstock_cf32 sum = {0, 0}, value = {1, 0}, step = cf32_turn(-segment->cfo);
    float energy = 0;
    for (unsigned i = 0; i < 2 * PENSTOCK__WIFI_FFT; i++) {
        value = i % 32 ? cf32_mul(value, step) : cf32_turn(-segment->cfo * (double)(segment->window + i));
        tone[i] = value;
    }
    for (unsigned i = 0; i < PENSTOCK__WIFI_FFT; i++)
        both[i] = cf32_add(tone[i], tone[i + PENSTOCK__WIFI_FFT]);
    penstock__wifi_fft(tables, bins, both);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        float used = penstock__wifi_long_training[k].re;
        bins[k] = (penstock_cf32){bins[k].re * used * used, -bins[k].im * used * used};
    }
    penstock__wifi_fft(tables, both, bins); /* of the conjugate, so that this is the conjugate of the inverse */
    for (unsigned i = 0; i < 2 * PENSTOCK__WIFI_FFT; i++) {
        penstock_cf32 known = both[i % PENSTOCK__WIFI_FFT];
        tone[i].re -= known.re / (2 * PENSTOCK__WIFI_FFT);
        tone[i].im += known.im / (2 * PENSTOCK__WIFI_FFT);
        energy += cf32_power(tone[i]);
        sum = cf32_add(sum, cf32_mul_conj(x[i], tone[i]));
    }
    return cf32_scale(sum, 1 / energy);
}

/*
 * Offset from the phase between short and long training field, 176 samples apart, the channel being known from the
 * latter: five times as exact as the distance between the long symbols.
 */
static void compare_fields(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment)
{
    penstock_cf32 both[PENSTOCK__WIFI_FFT], bins[PENSTOCK__WIFI_FFT], sum = {0, 0};
    const penstock_cf32 *x = segment->rotated + segment->first - 192 + 16 - WINDOW_OFFSET;
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
static void remove_dc(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment)
{
    penstock_cf32 rest = find_dc(tables, segment);
    penstock_cf32 dc = cf32_add(cf32_scale(segment->mean, segment->scale), rest);
    float variance = segment->noise / PENSTOCK__WIFI_FFT / (2 * PENSTOCK__WIFI_FFT);
    if (cf32_power(dc) < 8 * variance) {
        rest = cf32_sub(rest, dc);
        segment->mean = (penstock_cf32){0, 0};
    } else {
        segment->mean = cf32_scale(dc, 1 / segment->scale);
    }
    for (unsigned i = 0; i < SEGMENT; i++)
        segment->raw[i] = cf32_sub(segment->raw[i], rest);
}

bool penstock__wifi_synchronise(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                                int64_t position, const penstock_cf32 *samples)
{
    const struct penstock__wifi_window window = penstock__wifi_window(samples + BEFORE);
    size_t strongest;
    segment->base = position - BEFORE;
    segment->mean = window.mean;
    segment->scale = 1 / sqrtf(window.power);
    for (unsigned i = 0; i < SEGMENT; i++)
        segment->raw[i] = cf32_scale(cf32_sub(samples[i], segment->mean), segment->scale);
    segment->cfo = (double)cf32_angle(window.lag) / (TWO_PI * GROUP);
    penstock__wifi_rotate(segment, SEARCH_FROM - REFINE_BEFORE, TRAINED);
    if (!(strongest = find_long_symbol(tables, segment)))
        return false;

    refine_offset(segment, strongest);
    penstock__wifi_rotate(segment, 0, TRAINED);
    segment->window = strongest - BACK_OFF;
    segment->first = segment->window + first_path(tables, segment);
    penstock__wifi_estimate(tables, segment);
    remove_dc(tables, segment);
    penstock__wifi_rotate(segment, 0, TRAINED);
    penstock__wifi_estimate(tables, segment);
    penstock__wifi_smooth(tables, segment, segment->noise / 2);
    compare_fields(tables, segment);
    penstock__wifi_rotate(segment, 0, SEGMENT);
    penstock__wifi_estimate(tables, segment);
    penstock__wifi_smooth(tables, segment, segment->noise / 2);
    return true;
}
