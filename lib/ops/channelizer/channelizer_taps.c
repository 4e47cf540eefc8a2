/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The prototype of the filter bank. A root-Nyquist response H(f) falls from one to zero between 1 / (2 M) - D and
 * 1 / (2 M) + D as cos(pi v / 2), v being the integral of Kaiser's window over the transition, as the window of Princen
 * and Bradley's transform coders does in time (L. Fielder et al., "AC-2 and AC-3: low-complexity transform-based audio
 * coding", AES, 1996). Its impulse response, by parts,
 *
 *     h(t) = 1 / (pi t) times the integral of -H'(f) sin(2 pi f t),
 *
 * has an integrand that ends smoothly, so that a sum of equal steps gives it to nearly all digits.
 */
#include "ops/channelizer/channelizer_check.h"
#include "ops/taps/kaiser.h"

#include <math.h>

#define PI             3.14159265358979323846
#define STEPS          1024 /* of the integral */
#define ATTENUATION_DB 80

/* ---------------------------------------------------------------- transition ------------------ */

/* Width of the transition in channels: to where aliases begin, and not beyond the next channel's middle. */
static double transition(size_t channels, size_t hop)
{
    return fmin((double)channels / (double)hop - 1, 1);
}

/* ---------------------------------------------------------------- root-Nyquist ---------------- */

/* Kaiser's parameter for `reach` (taps of a branch times width of the transition): the best for stop band and inverse
 * by trial, on a line. */
static double beta_of(double reach)
{
    return fmin(fmax(0.62 * reach + 1.4, 0), 16);
}

struct slope {
    double frequency, weight; /* cycles per sample; -H'(f) df, which add up to one */
};

static void fill_slopes(struct slope *slopes, size_t count, size_t channels, size_t hop)
{
    double width = transition(channels, hop), sum = 0, before = 0;
    double beta = beta_of(width * (double)count / (double)channels);
    for (int j = 0; j < STEPS; j++) {
        double u = (2 * j + 1.0) / STEPS - 1;
        slopes[j].frequency = (1 + width * u) / (2 * (double)channels);
        slopes[j].weight = penstock__bessel_i0(beta * sqrt(1 - u * u));
        sum += slopes[j].weight;
    }
    for (int j = 0; j < STEPS; j++) {
        double next = before + slopes[j].weight / sum;
        slopes[j].weight = cos(PI / 2 * before) - cos(PI / 2 * next);
        before = next;
    }
}

/* Steps are equal, so the angles are, and a rotation goes from one sine to the next. */
static double impulse_response(const struct slope *slopes, double t)
{
    double angle = 2 * PI * slopes[0].frequency * t, s = sin(angle), c = cos(angle), sum = 0;
    double step = 2 * PI * (slopes[STEPS - 1].frequency - slopes[0].frequency) / (STEPS - 1) * t;
    double turn_s = sin(step), turn_c = cos(step);
    if (t == 0) {
        for (int j = 0; j < STEPS; j++)
            sum += 2 * slopes[j].frequency * slopes[j].weight;
        return sum;
    }
    for (int j = 0; j < STEPS; j++) {
        double next = s * turn_c + c * turn_s;
        sum += slopes[j].weight * s;
        c = c * turn_c - s * turn_s;
        s = next;
    }
    return sum / (PI * t);
}

static int design_root_nyquist(float *taps, size_t count, size_t channels, size_t hop)
{
    struct slope *slopes = penstock__alloc(STEPS * sizeof *slopes);
    double *half = penstock__alloc((count + 1) / 2 * sizeof *half), sum = 0;
    int status = PENSTOCK_ERR_MEMORY;
    if (!slopes || !half)
        goto done;
    fill_slopes(slopes, count, channels, hop);
    for (size_t k = 0; k < (count + 1) / 2; k++) {
        half[k] = impulse_response(slopes, (double)k - ((double)count - 1) / 2);
        sum += 2 * k + 1 == count ? half[k] : 2 * half[k];
    }
    for (size_t k = 0; k < count; k++)
        taps[k] = (float)(half[k < count - 1 - k ? k : count - 1 - k] / sum);
    status = PENSTOCK_OK;
done:
    penstock__free(half);
    penstock__free(slopes);
    return status;
}

int penstock_channelizer_taps(float *taps, size_t count, size_t channels, size_t hop)
{
    int status = penstock__channels_check(channels, &hop);
    if (status || (status = penstock__prototype_check(NULL, &count, channels, hop)))
        return status;
    if (!taps)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "filter bank: taps is NULL");
    if (hop < channels)
        return design_root_nyquist(taps, count, channels, hop);
    return penstock_taps_design(taps, count, PENSTOCK_LOW_PASS, 0.5 / (double)channels, 0, ATTENUATION_DB);
}
