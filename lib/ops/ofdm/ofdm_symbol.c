/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Pilots to phase and slope, then the data carriers' loops. */
#include "ops/ofdm/ofdm_symbol.h"
#include "backends/backend.h"
#include "vector/angle.h"

#include <math.h>

#define TAU 6.283185307179586

/* |channel|^2 outside this range counts as no channel: its inverse would not be a normal float. */
#define LEAST_POWER    1e-30f
#define GREATEST_POWER 1e30f

/* `channel` is the caller's: anything may be in it. */
static void invert(const struct ofdm_carriers *carriers, const penstock_cf32 *channel, float noise,
                   const struct ofdm_inverse *inverse)
{
    const uint32_t *bin = carriers->bin;
    const penstock_cf32 *ramp = carriers->ramp;
    float *restrict re = inverse->re, *restrict im = inverse->im, *restrict weight = inverse->weight;
    float inverse_noise = 1.0f / noise;
    for (size_t k = 0; k < carriers->padded; k++) {
        penstock_cf32 h = channel[bin[k]];
        float power = h.re * h.re + h.im * h.im;
        bool good = power > LEAST_POWER && power < GREATEST_POWER;
        float scale = good ? 1.0f / power : 0.0f;
        float w = power * inverse_noise;
        re[k] = good ? (h.re * ramp[k].re + h.im * ramp[k].im) * scale : 0.0f;
        im[k] = good ? (h.re * ramp[k].im - h.im * ramp[k].re) * scale : 0.0f;
        weight[k] = !good ? 0.0f : w < GREATEST_POWER ? w : GREATEST_POWER;
    }
}

/* Carrier numbers are whole, so whole turns of phase or slope make no difference. */
static float within_pi(float angle)
{
    return fabsf(angle) <= 3.14159274f ? angle : (float)remainder((double)angle, TAU);
}

/*
 * Common phase and slope by least squares on the pilots `received`, weighted by their signal-to-noise ratio: first the
 * argument of the weighted sum, then a straight line through the angles that remain.
 */
static void track(const struct ofdm_grid *grid, const struct ofdm_worker *worker, size_t pilot_row, float *phase,
                  float *slope)
{
    const struct ofdm_carriers *pilots = &grid->pilots;
    const float *power = grid->pilot_power + pilot_row * pilots->count;
    double re = 0, im = 0, sum_w = 0, sum_k = 0;
    for (size_t p = 0; p < pilots->count; p++) {
        double w = (double)worker->pilots.weight[p] * (double)power[p];
        re += w * (double)worker->received[p].re;
        im += w * (double)worker->received[p].im;
        sum_w += w;
        sum_k += w * (double)pilots->number[p];
    }
    double length = sqrt(re * re + im * im), mean_k = sum_k / sum_w, sum_angle = 0, sum_cross = 0, sum_square = 0;
    *phase = *slope = 0;
    if (!(length > 0 && length < INFINITY))
        return;
    float c = (float)(re / length), s = (float)(im / length);
    for (size_t p = 0; p < pilots->count; p++) {
        penstock_cf32 r = worker->received[p];
        double w = (double)worker->pilots.weight[p] * (double)power[p], k = (double)pilots->number[p] - mean_k;
        double angle = (double)penstock__angle(r.im * c - r.re * s, r.re * c + r.im * s);
        sum_angle += w * angle;
        sum_cross += w * k * angle;
        sum_square += w * k * k;
    }
    double line = sum_square > 1e-9 * sum_w ? sum_cross / sum_square : 0;
    *slope = (float)line;
    *phase = within_pi((float)((double)penstock__angle(s, c) + sum_angle / sum_w - line * mean_k));
}

static void receive_pilots(const struct ofdm_grid *grid, struct ofdm_worker *worker, size_t pilot_row,
                           const penstock_cf32 *fft)
{
    const struct ofdm_carriers *pilots = &grid->pilots;
    const penstock_cf32 *inverse = grid->pilot_inverse + pilot_row * pilots->count;
    for (size_t p = 0; p < pilots->count; p++) {
        penstock_cf32 x = fft[pilots->bin[p]];
        float re = x.re * worker->pilots.re[p] - x.im * worker->pilots.im[p];
        float im = x.re * worker->pilots.im[p] + x.im * worker->pilots.re[p];
        worker->received[p].re = re * inverse[p].re - im * inverse[p].im;
        worker->received[p].im = re * inverse[p].im + im * inverse[p].re;
    }
}

static void demodulate(const struct ofdm_grid *grid, const struct ofdm_kernels *kernels, struct ofdm_worker *worker,
                       const penstock_ofdm_frame *frame, const penstock_cf32 *fft, float phase, float slope,
                       const penstock_ofdm_result *result, size_t row)
{
    const struct ofdm_carriers *data = &grid->data;
    size_t count = data->count;
    kernels->equalise(data, &worker->data, fft, phase, slope, worker->re, worker->im);
    if (result->points) {
        penstock_cf32 *points = result->points + row * count;
        for (size_t k = 0; k < count; k++)
            points[k] = (penstock_cf32){worker->re[k], worker->im[k]};
    }
    if (result->soft)
        kernels->demap(frame->constellation, frame->llr_scale > 0 ? frame->llr_scale : 1, data, worker->data.weight,
                       worker->re, worker->im, worker->words, result->soft + row * count * grid->pitch, grid->pitch);
}

float penstock__ofdm_given(const struct ofdm_grid *grid, float angle)
{
    return grid->tracking == PENSTOCK_TRACK_GIVEN ? within_pi(angle) : 0;
}

void penstock__ofdm_symbol(const struct ofdm_grid *grid, const struct ofdm_kernels *kernels, struct ofdm_worker *worker,
                           const penstock_ofdm_frame *frame, const penstock_ofdm_symbol *symbol,
                           const penstock_cf32 *fft, const penstock_ofdm_result *result, size_t row)
{
    size_t pilots = grid->pilots.count;
    if (worker->frame != frame) {
        invert(&grid->data, frame->channel, frame->noise, &worker->data);
        if (pilots)
            invert(&grid->pilots, frame->channel, frame->noise, &worker->pilots);
        worker->frame = frame;
    }
    float phase = penstock__ofdm_given(grid, symbol->phase), slope = penstock__ofdm_given(grid, symbol->slope);
    if (pilots && (result->pilots || grid->tracking == PENSTOCK_TRACK_PILOTS)) {
        receive_pilots(grid, worker, symbol->pilot_row, fft);
        if (grid->tracking == PENSTOCK_TRACK_PILOTS)
            track(grid, worker, symbol->pilot_row, &phase, &slope);
        for (size_t p = 0; result->pilots && p < pilots; p++)
            result->pilots[row * pilots + p] = worker->received[p];
    }
    if (result->phase)
        result->phase[row] = phase;
    if (result->slope)
        result->slope[row] = slope;
    if (result->points || result->soft)
        demodulate(grid, kernels, worker, frame, fft, phase, slope, result, row);
}
