/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of the search for the long training field. Sums are over lanes of their own, so that any vectors give
 * them. */
#include "rx/wifi/synchronise_kernels.h"
#include "rx/wifi/lanes.h"

#ifndef SYNC_KERNELS
#define SYNC_KERNELS penstock__sync_kernels_plain
#endif

#define FAINT 0.02F /* of the short field's power: less is no long field, but what is left of silence */

/* ---------------------------------------------------------------- samples --------------------- */

/* `count` of them, and up to seven more. */
static void fill_phases(float *restrict re, float *restrict im, unsigned count, double cfo, unsigned from,
                        unsigned step)
{
    for (unsigned at = 0; at < count; at += LANES, re += LANES, im += LANES, from += LANES * step)
        for (unsigned i = 0; i < LANES; i++) {
            const penstock_cf32 turn = cf32_turn(-cfo * (double)(int)(from + i * step));
            re[i] = turn.re;
            im[i] = turn.im;
        }
}

static void turn(struct penstock__wifi_phases *phases, double cfo, size_t from, size_t count)
{
    phases->from = from;
    fill_phases(phases->turn_re, phases->turn_im, ROTATION, cfo, 0, 1);
    fill_phases(phases->anchor_re, phases->anchor_im, (unsigned)count, cfo, (unsigned)from, ROTATION);
}

static void rotate(float *restrict re, float *restrict im, const penstock_cf32 *samples,
                   const struct penstock__wifi_correction *correction, const struct penstock__wifi_phases *phases,
                   size_t first, size_t count)
{
    const penstock_cf32 mean = correction->mean;
    const float scale = correction->scale;
    for (size_t a = first; a < first + count; a++, samples += ROTATION, re += ROTATION, im += ROTATION) {
        const float anchor_re = phases->anchor_re[a], anchor_im = phases->anchor_im[a];
        for (unsigned k = 0; k < ROTATION; k++) {
            const float turn_re = anchor_re * phases->turn_re[k] - anchor_im * phases->turn_im[k],
                        turn_im = anchor_re * phases->turn_im[k] + anchor_im * phases->turn_re[k],
                        x_re = (samples[k].re - mean.re) * scale, x_im = (samples[k].im - mean.im) * scale;
            re[k] = x_re * turn_re - x_im * turn_im;
            im[k] = x_re * turn_im + x_im * turn_re;
        }
    }
}

/* ---------------------------------------------------------------- arrivals -------------------- */

/* Of sums that are `step` apart the first `count` sums of four. */
static inline void slide(float *restrict out, const float *restrict in, size_t count, size_t step)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (in[i] + in[i + step]) + (in[i + 2 * step] + in[i + 3 * step]);
}

/* Each value becomes the mean of the ARRIVAL that begin with it. */
static inline void average(float *values)
{
    float fours[LAGS + BOTH], sixteens[LAGS + BOTH];
    slide(fours, values, ARRIVALS + BOTH + 12, 1);
    slide(sixteens, fours, ARRIVALS + BOTH, 4);
    slide(fours, sixteens, ARRIVALS + 64, 16);
    for (unsigned i = 0; i < ARRIVALS; i++)
        values[i] = ((fours[i] + fours[i + 64]) + sixteens[i + BOTH]) * (1.0F / ARRIVAL);
}

static void arrive(struct sync_arrivals *arrivals, const penstock_cf32 *samples,
                   const struct penstock__wifi_correction *correction)
{
    const penstock_cf32 mean = correction->mean;
    const float scale = correction->scale;
    float *restrict re = arrivals->re, *restrict im = arrivals->im, *restrict power = arrivals->power;
    for (unsigned i = 0; i < LAGS + BOTH; i++) {
        re[i] = (samples[i].re - mean.re) * scale;
        im[i] = (samples[i].im - mean.im) * scale;
        power[i] = re[i] * re[i] + im[i] * im[i];
    }
    average(re);
    average(im);
    average(power);
    for (unsigned i = 0; i < ARRIVALS; i++)
        power[i] -= re[i] * re[i] + im[i] * im[i];
    for (unsigned i = ARRIVALS; i < LAGS; i++) {
        re[i] = re[ARRIVALS - 1];
        im[i] = im[ARRIVALS - 1];
    }
}

/* ---------------------------------------------------------------- lags ------------------------ */

/* Rows 8 r + l to blocks of rows, in which carriers lie as struct penstock__wifi_correlator says. */
static void transform_there(lanes *re, lanes *im, const struct penstock__wifi_correlator *correlator)
{
    for (unsigned b = 0; b < 4; b++)
        lanes_transform_eight(re + b, im + b, 4);
    for (unsigned k = 0; k < 8; k++) {
        lanes *four_re = re + 4 * k, *four_im = im + 4 * k, from_re[4], from_im[4];
        for (unsigned b = 0; b < 4; b++)
            lanes_turn_by(&from_re[b], &from_im[b], &four_re[b], &four_im[b], correlator->quarter_re[k][b],
                          correlator->quarter_im[k][b]);
        lanes_transform_four(four_re, four_im, from_re, from_im, 1);
        for (unsigned m = 0; m < 4; m++)
            lanes_turn(&four_re[m], &four_im[m], correlator->re[4 * k + m], correlator->im[4 * k + m]);
    }
    for (unsigned block = 0; block < 32; block += 8) {
        lanes_transpose(re + block);
        lanes_transpose(im + block);
        lanes_transform_eight(re + block, im + block, 1);
    }
}

/* And back, the same steps in reverse order: forward, for parts that have changed places, and not scaled. */
static void transform_back(lanes *re, lanes *im, const struct penstock__wifi_correlator *correlator)
{
    for (unsigned block = 0; block < 32; block += 8) {
        lanes_transform_eight(re + block, im + block, 1);
        lanes_transpose(re + block);
        lanes_transpose(im + block);
    }
    for (unsigned k = 0; k < 8; k++) {
        lanes *four_re = re + 4 * k, *four_im = im + 4 * k, to_re[4], to_im[4];
        for (unsigned m = 0; m < 4; m++)
            lanes_turn(&four_re[m], &four_im[m], correlator->re[4 * k + m], correlator->im[4 * k + m]);
        lanes_transform_four(to_re, to_im, four_re, four_im, 1);
        for (unsigned b = 0; b < 4; b++)
            lanes_turn_by(&four_re[b], &four_im[b], &to_re[b], &to_im[b], correlator->quarter_re[k][b],
                          correlator->quarter_im[k][b]);
    }
    for (unsigned b = 0; b < 4; b++)
        lanes_transform_eight(re + b, im + b, 4);
}

/* Of 256 samples those behind the last lag's are zero, so that the sums that go round are of no lag. */
static void correlate(struct sync_lags *lags, const float *x_re, const float *x_im,
                      const struct penstock__wifi_correlator *correlator)
{
    enum { ROWS = (LAGS + PENSTOCK__WIFI_FFT) / LANES };
    lanes re[32], im[32];
    for (unsigned r = 0; r < ROWS; r++) {
        const float *from_re = x_re + LANES * r, *from_im = x_im + LANES * r;
        lanes first_re, first_im, second_re, second_im;
        lanes_load_parts(&first_re, &first_im, from_re, from_im);
        lanes_load_parts(&second_re, &second_im, from_re + PENSTOCK__WIFI_FFT, from_im + PENSTOCK__WIFI_FFT);
        re[r] = first_re + second_re;
        im[r] = first_im + second_im;
    }
    for (unsigned r = ROWS; r < 32; r++)
        re[r] = im[r] = (lanes){0};
    transform_there(re, im, correlator);
    for (unsigned row = 0; row < 32; row++)
        lanes_turn(&re[row], &im[row], correlator->symbol_re[row / 8][row % 8],
                   correlator->symbol_im[row / 8][row % 8]);
    transform_back(im, re, correlator);
    for (unsigned r = 0; r < LAGS / LANES; r++) {
        lanes_store_parts(lags->re + LANES * r, lags->im + LANES * r, &re[r], &im[r]);
    }
}

/* What a constant one adds to the correlation at a lag, over the phase there. */
static penstock_cf32 correlate_constant(const struct penstock__wifi_phases *phases,
                                        const struct penstock__wifi_bins *known)
{
    float re[ROTATION] = {0}, im[ROTATION] = {0};
    for (unsigned a = 0; a < PENSTOCK__WIFI_FFT / ROTATION; a++)
        for (unsigned k = 0; k < ROTATION; k++) {
            const float anchor_re = phases->anchor_re[a], anchor_im = phases->anchor_im[a],
                        turn_re = anchor_re * phases->turn_re[k] - anchor_im * phases->turn_im[k],
                        turn_im = anchor_re * phases->turn_im[k] + anchor_im * phases->turn_re[k];
            re[k] += turn_re * known->re[ROTATION * a + k] - turn_im * known->im[ROTATION * a + k];
            im[k] += turn_re * known->im[ROTATION * a + k] + turn_im * known->re[ROTATION * a + k];
        }
    for (unsigned half = ROTATION / 2; half; half /= 2)
        for (unsigned k = 0; k < half; k++) {
            re[k] += re[k + half];
            im[k] += im[k + half];
        }
    const unsigned symbol = PENSTOCK__WIFI_FFT / ROTATION;
    const penstock_cf32 first = {phases->anchor_re[0], phases->anchor_im[0]},
                        second = {phases->anchor_re[symbol], phases->anchor_im[symbol]},
                        both = cf32_add((penstock_cf32){1, 0}, cf32_mul_conj(second, first));
    return cf32_mul(cf32_mul_conj((penstock_cf32){re[0], im[0]}, first), both);
}

static void weigh_power(struct sync_lags *lags, const struct sync_arrivals *arrivals,
                        const struct penstock__wifi_phases *phases, penstock_cf32 constant)
{
    const float *mean_re = arrivals->re, *mean_im = arrivals->im;
    for (unsigned a = 0; a < LAGS / ROTATION; a++) {
        const penstock_cf32 anchor =
            cf32_mul((penstock_cf32){phases->anchor_re[a + 1], phases->anchor_im[a + 1]}, constant);
        for (unsigned k = 0; k < ROTATION; k++) {
            const unsigned i = ROTATION * a + k;
            const float of_re = anchor.re * phases->turn_re[k] - anchor.im * phases->turn_im[k],
                        of_im = anchor.re * phases->turn_im[k] + anchor.im * phases->turn_re[k],
                        re = lags->re[i] - (mean_re[i] * of_re - mean_im[i] * of_im),
                        im = lags->im[i] - (mean_re[i] * of_im + mean_im[i] * of_re);
            lags->power[i] = re * re + im * im;
        }
    }
}

static void weigh_share(struct sync_lags *lags, const struct sync_arrivals *arrivals)
{
    float fours[LAGS], gathered[LAGS] = {0};
    slide(fours, lags->power, ARRIVALS + 12, 1);
    slide(gathered, fours, ARRIVALS, 4);
    for (unsigned i = 0; i < LAGS; i++) {
        const float available = 2 * BOTH * arrivals->power[i]; /* of both symbols' sum */
        const bool there = i < ARRIVALS && arrivals->power[i] > FAINT;
        lags->share[i] = (there ? gathered[i] : 0) / (there ? available : 1);
    }
}

/* The first of the largest. */
static unsigned choose(const float *share)
{
    float best[ROTATION] = {0}, most = 0;
    unsigned at = 0;
    for (unsigned i = 0; i < LAGS; i += ROTATION)
        for (unsigned j = 0; j < ROTATION; j++)
            best[j] = share[i + j] > best[j] ? share[i + j] : best[j];
    for (unsigned j = 0; j < ROTATION; j++)
        most = best[j] > most ? best[j] : most;
    while (most > 0 && share[at] != most)
        at++;
    return at;
}

static unsigned weigh(struct sync_lags *lags, const struct sync_arrivals *arrivals,
                      const struct penstock__wifi_phases *phases, const struct penstock__wifi_bins *known)
{
    weigh_power(lags, arrivals, phases, correlate_constant(phases, known));
    weigh_share(lags, arrivals);
    return choose(lags->share);
}

const struct sync_kernels SYNC_KERNELS = {
    .turn = turn, .rotate = rotate, .arrive = arrive, .correlate = correlate, .weigh = weigh};
