/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a kernel that demodulates OFDM multiplies a frame's bins by. */
#include "ops/ofdm/ofdm_fused.h"

#include <math.h>

/* Gains and ratios that the kernel's arithmetic keeps within floats. */
#define LEAST    1e-30
#define GREATEST 1e30

static double sample_scale(penstock_format format)
{
    return format == PENSTOCK_CS16 ? 1.0 / 32768 : format == PENSTOCK_CF32 ? 1 : 1.0 / 128;
}

static double power_of(penstock_cf32 value)
{
    return (double)value.re * (double)value.re + (double)value.im * (double)value.im;
}

static bool is_used(double channel)
{
    return channel > LEAST && channel < GREATEST;
}

/* ramp conj(channel) `factor` */
static penstock_cf32 gain_of(penstock_cf32 h, penstock_cf32 ramp, double factor)
{
    double re = (double)h.re, im = (double)h.im;
    return (penstock_cf32){(float)(factor * ((double)ramp.re * re + (double)ramp.im * im)),
                           (float)(factor * ((double)ramp.im * re - (double)ramp.re * im))};
}

/*
 * With a point's levels at odd integers, of mean square `power`, a soft bit is w times a sum of distances in that unit,
 * w = 4 llr_scale |channel|^2 / (noise power). Points scaled by w have their levels at odd multiples of it, and the
 * sum is the soft bit. So the gain is a ramp conj(channel) with a = 4 llr_scale / (noise sqrt(power)), and the ratio
 * w / |gain|^2 = noise / (4 llr_scale).
 */
static bool fill_carriers(penstock_cf32 *coefficients, const struct penstock_ofdm_problem *ofdm,
                          const struct ofdm_grid *grid, const penstock_ofdm_frame *frame, double *highest)
{
    double scale = sample_scale(ofdm->format), llr = frame->llr_scale > 0 ? (double)frame->llr_scale : 1;
    unsigned bits = (unsigned)frame->constellation;
    double power = bits == 1 ? 1 : 2 * ((double)(1u << bits) - 1) / 3;
    double a = 4 * llr * scale / ((double)frame->noise * sqrt(power));
    double ratio = (double)frame->noise / (4 * llr * scale * scale);
    bool good = ratio > LEAST && ratio < GREATEST;
    for (size_t c = 0; c < grid->data.count && good; c++) {
        penstock_cf32 h = frame->channel[grid->data.bin[c]];
        double channel = power_of(h), square = a * a * channel;
        bool used = is_used(channel);
        good = !used || (square > LEAST && square < GREATEST && square * ratio < GREATEST);
        if (used)
            *highest = fmax(*highest, square * ratio);
        coefficients[grid->data.bin[c]] = used ? gain_of(h, grid->data.ramp[c], a) : (penstock_cf32){0, 0};
    }
    coefficients[grid->n] = (penstock_cf32){(float)ratio, (float)(1 / sqrt(power))};
    coefficients[grid->n + 1] = (penstock_cf32){(float)bits, 0};
    return good;
}

struct pilots {
    double strongest;         /* |channel| */
    double sum, mean, square; /* of weights |channel pilot|^2, of the carriers, of their distances from the mean */
};

static double weight_of(const struct ofdm_grid *grid, const penstock_ofdm_frame *frame, size_t p)
{
    double channel = power_of(frame->channel[grid->pilots.bin[p]]);
    return is_used(channel) ? channel * (double)grid->pilot_power[p] : 0;
}

/* False where a weight is so large that its sums would not be floats' business. */
static bool sum_up(struct pilots *pilots, const struct ofdm_grid *grid, const penstock_ofdm_frame *frame)
{
    bool good = true;
    for (size_t p = 0; p < grid->pilots.count; p++) {
        double weight = weight_of(grid, frame, p), channel = power_of(frame->channel[grid->pilots.bin[p]]);
        good = good && weight < GREATEST && weight / (double)frame->noise < GREATEST;
        pilots->strongest = is_used(channel) ? fmax(pilots->strongest, sqrt(channel)) : pilots->strongest;
        pilots->sum += weight;
        pilots->mean += weight * (double)grid->pilots.number[p];
    }
    pilots->mean /= pilots->sum > 0 ? pilots->sum : 1;
    for (size_t p = 0; p < grid->pilots.count; p++)
        pilots->square += weight_of(grid, frame, p) * pow((double)grid->pilots.number[p] - pilots->mean, 2);
    if (!(pilots->square > 1e-9 * pilots->sum)) /* one pilot has no slope */
        pilots->square = INFINITY;
    return good;
}

static bool fill_pilots(penstock_cf32 *coefficients, const struct penstock_ofdm_problem *ofdm,
                        const struct ofdm_grid *grid, const penstock_ofdm_frame *frame)
{
    penstock_cf32 *triple = coefficients + grid->n + 2;
    struct pilots pilots = {0};
    bool good = sum_up(&pilots, grid, frame);
    coefficients[grid->n + 1].im = (float)pilots.mean;
    for (size_t p = 0; p < grid->pilots.count; p++, triple += 3) {
        double weight = weight_of(grid, frame, p), number = (double)grid->pilots.number[p];
        triple[0] = triple[1] = triple[2] = (penstock_cf32){0, 0};
        if (!(weight > 0))
            continue;
        triple[0] = gain_of(frame->channel[grid->pilots.bin[p]], grid->pilots.ramp[p], 1 / pilots.strongest);
        triple[1] =
            (penstock_cf32){(float)(weight / pilots.sum), (float)(weight * (number - pilots.mean) / pilots.square)};
        triple[2].re = (float)(sample_scale(ofdm->format) * pilots.strongest / weight);
    }
    return good;
}

bool penstock__ofdm_coefficients_fill(penstock_cf32 *coefficients, const struct penstock_ofdm_problem *ofdm,
                                      const struct ofdm_grid *grid, const penstock_ofdm_frame *frame, double *highest)
{
    return fill_carriers(coefficients, ofdm, grid, frame, highest) &&
           (!ofdm->pilot_count || fill_pilots(coefficients, ofdm, grid, frame));
}
