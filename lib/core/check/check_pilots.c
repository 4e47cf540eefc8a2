/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Pilots of OFDM symbols: what each weighs, how they are sent, and what they tell. */
#include "core/check/check_pilots.h"
#include "core/check/check_samples.h"
#include "core/check/expected.h"

#include <math.h>
#include <string.h>

static const double tau = 6.28318530717958647692528676655900577;

int32_t penstock__check_carrier(const struct penstock_ofdm_problem *ofdm, uint32_t bin)
{
    return bin < (ofdm->n + 1) / 2 ? (int32_t)bin : (int32_t)bin - (int32_t)ofdm->n;
}

void penstock__check_weigh(penstock_cf32 *coefficients, const struct penstock_ofdm_problem *ofdm, double strength,
                           uint64_t *random)
{
    penstock_cf32 *pilots = coefficients + ofdm->n + 2;
    double sum = 0, mean = 0, square = 0;
    for (size_t p = 0; p < ofdm->pilot_count; p++) {
        double direction = tau * penstock__check_uniform(random);
        double size = 0.65 + 0.35 * penstock__check_uniform(random);
        pilots[3 * p] = (penstock_cf32){(float)(size * cos(direction)), (float)(size * sin(direction))};
        pilots[3 * p + 2] = (penstock_cf32){(float)(1 / (size * strength)), 0};
        sum += size * size;
        mean += size * size * penstock__check_carrier(ofdm, ofdm->pilot_bins[p]);
    }
    mean /= sum > 0 ? sum : 1;
    for (int pass = 0; pass < 2; pass++)
        for (size_t p = 0; p < ofdm->pilot_count; p++) {
            double re = (double)pilots[3 * p].re, im = (double)pilots[3 * p].im, weight = re * re + im * im;
            double number = penstock__check_carrier(ofdm, ofdm->pilot_bins[p]) - mean;
            square += pass ? 0 : weight * number * number;
            pilots[3 * p + 1] =
                (penstock_cf32){(float)(weight / sum), square > 0 ? (float)(weight * number / square) : 0};
        }
    coefficients[ofdm->n + 1].im = (float)mean;
}

static penstock_cf32 gain_of(const struct penstock__check_pilots *pilots, size_t p)
{
    return pilots->coefficients[pilots->ofdm->n + 2 + 3 * p];
}

void penstock__check_fill(double *spectrum, const struct penstock__check_pilots *pilots, uint64_t *random)
{
    const struct penstock_ofdm_problem *ofdm = pilots->ofdm;
    double phase = tau * penstock__check_uniform(random);
    double slope = 2 * penstock__check_uniform(random) / (double)ofdm->n;
    for (size_t k = 0; k < 2 * ofdm->n; k++)
        spectrum[k] = penstock__check_uniform(random);
    for (size_t p = 0; p < ofdm->pilot_count; p++) {
        const penstock_cf32 gain = gain_of(pilots, p), sent = pilots->values[p];
        double *value = spectrum + 2 * (size_t)ofdm->pilot_bins[p];
        double angle =
            phase + slope * penstock__check_carrier(ofdm, ofdm->pilot_bins[p]) + 0.3 * penstock__check_uniform(random);
        double size = hypot((double)sent.re, (double)sent.im);
        value[0] = cos(angle) / size;
        value[1] = sin(angle) / size;
        penstock__rotate(value, (double)sent.re, (double)sent.im);
        penstock__rotate(value, (double)gain.re, -(double)gain.im);
    }
}

void penstock__check_pilot(double seen[2], const double *spectrum, const struct penstock__check_pilots *pilots,
                           size_t p)
{
    const penstock_cf32 gain = gain_of(pilots, p), sent = pilots->values[p];
    memcpy(seen, spectrum + 2 * (size_t)pilots->ofdm->pilot_bins[p], 2 * sizeof *seen);
    penstock__rotate(seen, (double)gain.re, (double)gain.im);
    penstock__rotate(seen, (double)sent.re, -(double)sent.im);
}

struct penstock__check_line penstock__check_follow(const double *spectrum, const struct penstock__check_pilots *pilots)
{
    const struct penstock_ofdm_problem *ofdm = pilots->ofdm;
    struct penstock__check_line line = {0};
    double sum[2] = {0, 0}, mean = 0, seen[2];
    for (size_t p = 0; p < ofdm->pilot_count; p++) {
        penstock__check_pilot(seen, spectrum, pilots, p);
        sum[0] += seen[0];
        sum[1] += seen[1];
    }
    for (size_t p = 0; p < ofdm->pilot_count; p++) {
        penstock_cf32 weight = pilots->coefficients[ofdm->n + 3 + 3 * p];
        penstock__check_pilot(seen, spectrum, pilots, p);
        penstock__rotate(seen, sum[0], -sum[1]);
        double angle = atan2(seen[1], seen[0]);
        mean += (double)weight.re * angle;
        line.slope += (double)weight.im * angle;
        line.slope_error += fabs((double)weight.im);
    }
    line.phase = atan2(sum[1], sum[0]) + mean - line.slope * (double)pilots->coefficients[ofdm->n + 1].im;
    return line;
}
