/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The taps of a resampler. The library's own are a sinc under a Kaiser window (ops/taps/kaiser.h), wider by the ratio
 * where the rate falls. It is sampled once, finely, and read by cubics, so that another ratio takes no window anew.
 *
 * On straight lines between arms, P of them a sample of the lower rate, what is at frequency f has images near P with
 * an amplitude of (f / P)^2, 1 / (2 P)^2 at most.
 */
#include "ops/resampler/resampler_arms.h"
#include "backends/backend.h"
#include "ops/taps/kaiser.h"

#include <math.h>
#include <string.h>

#define PI          3.14159265358979323846
#define MARGIN_DB   4.0 /* Kaiser's formulas are estimates, and images add up */
#define MOST_TAPS   ((size_t)1 << 20)
#define EXACT_BYTES ((size_t)1 << 18) /* of arms that are all used as they are: what stays near the processor */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "resampler: " __VA_ARGS__)

/* ---------------------------------------------------------------- the prototype --------------- */

int penstock__resampler_prototype_init(struct resampler_prototype *prototype, double attenuation_db, double passband,
                                       double transition)
{
    const double wanted = attenuation_db + MARGIN_DB, beta = penstock__kaiser_beta(wanted);
    const double cutoff = passband + transition / 2, length = (wanted - 7.95) / (14.36 * transition);
    prototype->reach = ceil(length / 2);
    prototype->arms_each = 0.5 * pow(10.0, wanted / 40);
    prototype->count = (size_t)prototype->reach * RESAMPLER_FINE + 1;
    if (!(prototype->values = penstock__alloc(prototype->count * sizeof *prototype->values)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < prototype->count; i++) {
        double t = (double)i / RESAMPLER_FINE, x = t / prototype->reach, angle = 2 * PI * cutoff * t;
        prototype->values[i] = (i ? sin(angle) / angle : 1) * penstock__bessel_i0(beta * sqrt(1 - x * x));
    }
    return PENSTOCK_OK;
}

void penstock__resampler_prototype_free(struct resampler_prototype *prototype)
{
    penstock__free(prototype->values);
}

/* Its value at `t` samples of the lower rate from the middle: the cubic through four values. */
static double value_at(const struct resampler_prototype *prototype, double t)
{
    double place = fabs(t) * RESAMPLER_FINE;
    if (place > (double)(prototype->count - 1))
        return 0;
    size_t first = place < 1 ? 0 : (size_t)place - 1;
    first = first + 4 > prototype->count ? prototype->count - 4 : first;
    const double *v = prototype->values + first;
    const double u = place - (double)first;
    const double a = u - 1, b = u - 2, c = u - 3;
    return (v[3] * u * a * b - v[0] * a * b * c) / 6 + (v[1] * u * b * c - v[2] * u * a * c) / 2;
}

/* ---------------------------------------------------------------- arms ------------------------ */

static size_t step_taps(bool real_samples)
{
    return real_samples ? RESAMPLER_STEP : RESAMPLER_STEP / 2;
}

static size_t whole_steps(size_t taps, bool real_samples)
{
    return penstock__round_up(taps, step_taps(real_samples));
}

static int new_arms(struct resampler_arms **arms, size_t taps, size_t count, bool complex, bool real_samples)
{
    struct resampler_arms *made = penstock__calloc(1, sizeof *made);
    *arms = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    *made = (struct resampler_arms){.references = 1, .taps = taps, .count = count, .complex = complex};
    for (int t = 0; t <= complex; t++) {
        struct resampler_table *table = &made->tables[t];
        table->length = real_samples ? taps : 2 * taps;
        if (!(table->values = penstock__calloc((count + 2) * table->length, sizeof *table->values))) {
            penstock__resampler_arms_leave(made);
            return PENSTOCK_ERR_MEMORY;
        }
    }
    *arms = made;
    return PENSTOCK_OK;
}

struct resampler_arms *penstock__resampler_arms_keep(struct resampler_arms *arms)
{
    arms->references++;
    return arms;
}

void penstock__resampler_arms_leave(struct resampler_arms *arms)
{
    if (!arms || --arms->references)
        return;
    penstock__free(arms->tables[0].values);
    penstock__free(arms->tables[1].values);
    penstock__free(arms);
}

bool penstock__resampler_arms_same(const struct resampler_arms *a, const struct resampler_arms *b)
{
    bool same = a->taps == b->taps && a->count == b->count && a->before == b->before && a->complex == b->complex;
    for (int t = 0; same && t <= a->complex; t++)
        same = !memcmp(a->tables[t].values, b->tables[t].values,
                       (a->count + 1) * a->tables[t].length * sizeof *a->tables[t].values);
    return same;
}

static void set_tap(struct resampler_arms *arms, size_t arm, size_t tap, float re, float im)
{
    const float parts[2] = {re, im};
    for (int t = 0; t <= arms->complex; t++) {
        const struct resampler_table *table = &arms->tables[t];
        const size_t each = table->length / arms->taps;
        for (size_t twice = 0; twice < each; twice++)
            table->values[arm * table->length + tap * each + twice] = parts[t];
    }
}

/* ---------------------------------------------------------------- by the prototype ------------ */

size_t penstock__resampler_enough(const struct resampler_prototype *prototype)
{
    return (size_t)ceil(prototype->arms_each);
}

static double lower_rate(double ratio)
{
    return ratio < 1 ? ratio : 1;
}

/* Half of an arm's taps are before the output's time. */
static size_t half_taps(const struct resampler_prototype *prototype, double ratio, bool real_samples)
{
    size_t taps = (size_t)ceil(prototype->reach / lower_rate(ratio) * 2);
    return whole_steps(taps, real_samples) / 2;
}

size_t penstock__resampler_before(const struct resampler_prototype *prototype, double ratio, bool real_samples)
{
    return half_taps(prototype, ratio, real_samples) - 1;
}

/* Taps for outputs at arm / count behind a sample; their sum is one. */
static void fill_arm(struct resampler_arms *arms, const struct resampler_prototype *prototype, size_t arm, double lower,
                     double *scratch)
{
    const double first = -(double)arms->before - (double)arm / (double)arms->count;
    double sum = 0;
    for (size_t k = 0; k < arms->taps; k++) {
        scratch[k] = value_at(prototype, (first + (double)k) * lower);
        sum += scratch[k];
    }
    for (size_t k = 0; k < arms->taps; k++)
        set_tap(arms, arm, k, (float)(scratch[k] / sum), 0);
}

int penstock__resampler_arms_make(struct resampler_arms **arms, const struct resampler_prototype *prototype,
                                  struct resampler_ratio ratio, bool between, bool real_samples)
{
    const double lower = lower_rate((double)ratio.up / (double)ratio.down);
    const size_t half = half_taps(prototype, lower, real_samples), bytes = 2 * half * (real_samples ? 4 : 8);
    const double enough = ceil(prototype->arms_each * lower);
    const bool all = !between && (ratio.up <= (uint64_t)enough || ratio.up <= EXACT_BYTES / bytes);
    *arms = NULL;
    if (2 * half > MOST_TAPS)
        return bad("%zu taps for an output are more than %zu", 2 * half, MOST_TAPS);
    double *scratch = penstock__alloc(2 * half * sizeof *scratch);
    int status = scratch ? new_arms(arms, 2 * half, all ? (size_t)ratio.up : (size_t)enough, false, real_samples)
                         : PENSTOCK_ERR_MEMORY;
    if (!status) {
        (*arms)->before = half - 1;
        for (size_t arm = 0; arm <= (*arms)->count; arm++)
            fill_arm(*arms, prototype, arm, lower, scratch);
    }
    penstock__free(scratch);
    return status;
}

/* ---------------------------------------------------------------- the caller's ---------------- */

int penstock__resampler_arms_take(struct resampler_arms **arms, const float *real_taps, const penstock_cf32 *taps,
                                  size_t tap_count, size_t count, bool real_samples)
{
    const size_t each = whole_steps((tap_count + count - 1) / count, real_samples);
    for (size_t k = 0; k < tap_count; k++)
        if (taps ? !isfinite(taps[k].re) || !isfinite(taps[k].im) : !isfinite(real_taps[k]))
            return bad("tap %zu is not finite", k);
    int status = new_arms(arms, each, count, taps != NULL, real_samples);
    if (status)
        return status;
    (*arms)->before = each - 1;
    for (size_t arm = 0; arm <= count; arm++)
        for (size_t i = 0; i < each && arm + i * count < tap_count; i++) {
            const size_t k = arm + i * count;
            const penstock_cf32 tap = taps ? taps[k] : (penstock_cf32){real_taps[k], 0};
            set_tap(*arms, arm, each - 1 - i, tap.re, tap.im);
        }
    return PENSTOCK_OK;
}
