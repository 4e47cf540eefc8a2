/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The synthesis prototype that undoes an analysis prototype. The conditions for a perfect return fall apart into one
 * set of linear equations for each of the R places between two frames, which share no unknowns. Each set is solved for
 * the smallest change of the time-reversed prototype, by Cholesky's factors of the normal equations.
 */
#include "ops/channelizer/channelizer_check.h"

#include <math.h>
#include <string.h>

#define GOOD    1e-10 /* mean square of the equations' errors */
#define RIDGE   1e-12 /* of the matrix's mean diagonal: keeps what no tap can reach from growing */
#define REPEATS 3     /* of the solution, each time for what is left */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter bank: " __VA_ARGS__)

struct dual {
    const float *taps;
    size_t tap_count, dual_count, channels, hop, delay;
    ptrdiff_t first;               /* index i of the first equation */
    size_t equations, unknowns;    /* of a set, at most */
    double *values;                /* dual_count of them */
    double *matrix, *normal, *rhs; /* of a set: equations times unknowns; square; */
    double *left, *change;         /* what the equations lack, and the unknowns' change */
};

/* ---------------------------------------------------------------- equations ------------------- */

static size_t unknowns_at(const struct dual *d, size_t q)
{
    return q < d->dual_count ? (d->dual_count - q - 1) / d->hop + 1 : 0;
}

/* Factor of unknown j = q + m R in equation i. */
static double coefficient(const struct dual *d, size_t j, ptrdiff_t i)
{
    ptrdiff_t at = (ptrdiff_t)d->delay - (ptrdiff_t)j - i * (ptrdiff_t)d->channels;
    return at < 0 || at >= (ptrdiff_t)d->tap_count ? 0 : (double)d->channels * (double)d->taps[at];
}

/* What the equations of place q lack, to `left`; the sum of squares. */
static double residual(const struct dual *d, size_t q)
{
    double sum = 0;
    size_t unknowns = unknowns_at(d, q);
    for (size_t e = 0; e < d->equations; e++) {
        ptrdiff_t i = d->first + (ptrdiff_t)e;
        double left = i ? 0 : 1;
        for (size_t m = 0; m < unknowns; m++)
            left -= coefficient(d, q + m * d->hop, i) * d->values[q + m * d->hop];
        d->left[e] = left;
        sum += left * left;
    }
    return sum;
}

static double mean_residual(const struct dual *d)
{
    double sum = 0;
    for (size_t q = 0; q < d->hop; q++)
        sum += residual(d, q);
    return sum / (double)d->hop;
}

/* ---------------------------------------------------------------- solution -------------------- */

/* Factors the positive definite matrix in place, lower triangle. */
static void factor(double *a, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        double *row = a + j * n;
        for (size_t i = 0; i <= j; i++) {
            double sum = row[i];
            for (size_t k = 0; k < i; k++)
                sum -= row[k] * a[i * n + k];
            row[i] = i < j ? sum / a[i * n + i] : sqrt(fmax(sum, 1e-300));
        }
    }
}

static void solve(const double *a, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
}

/* A A' or A' A, whichever is smaller, with the ridge. */
static void fill_normal(const struct dual *d, size_t unknowns, bool by_equations)
{
    size_t n = by_equations ? d->equations : unknowns, others = by_equations ? unknowns : d->equations;
    size_t step = by_equations ? unknowns : 1, other_step = by_equations ? 1 : unknowns;
    double trace = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k < others; k++)
                sum += d->matrix[i * step + k * other_step] * d->matrix[j * step + k * other_step];
            d->normal[i * n + j] = sum;
        }
        trace += d->normal[i * n + i];
    }
    for (size_t i = 0; i < n; i++)
        d->normal[i * n + i] += RIDGE * trace / (double)n + 1e-280;
}

/* The smallest change that brings the set of place q nearest to what it should be. */
static void improve(const struct dual *d, size_t q)
{
    size_t unknowns = unknowns_at(d, q), equations = d->equations;
    bool by_equations = equations <= unknowns;
    for (size_t e = 0; e < equations; e++)
        for (size_t m = 0; m < unknowns; m++)
            d->matrix[e * unknowns + m] = coefficient(d, q + m * d->hop, d->first + (ptrdiff_t)e);
    fill_normal(d, unknowns, by_equations);
    factor(d->normal, by_equations ? equations : unknowns);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        residual(d, q);
        memcpy(d->rhs, d->left, equations * sizeof *d->rhs);
        if (by_equations)
            solve(d->normal, d->rhs, equations);
        for (size_t m = 0; m < unknowns; m++) {
            d->change[m] = 0;
            for (size_t e = 0; e < equations; e++)
                d->change[m] += d->matrix[e * unknowns + m] * d->rhs[e];
        }
        if (!by_equations)
            solve(d->normal, d->change, unknowns);
        for (size_t m = 0; m < unknowns; m++)
            d->values[q + m * d->hop] += d->change[m];
    }
}

/* ---------------------------------------------------------------- call ------------------------ */

/* The prototype backwards, of the size that gives one on average. */
static int match(const struct dual *d)
{
    double energy = 0;
    for (size_t j = 0; j < d->dual_count; j++) {
        d->values[j] = coefficient(d, j, 0) / (double)d->channels;
        energy += d->values[j] * d->values[j];
    }
    if (!(energy > 0))
        return bad("no tap of the dual meets one of the prototype at a delay of %zu", d->delay);
    for (size_t j = 0; j < d->dual_count; j++)
        d->values[j] *= (double)d->hop / ((double)d->channels * energy);
    return PENSTOCK_OK;
}

static int allocate(struct dual *d)
{
    size_t most = d->equations > d->unknowns ? d->equations : d->unknowns;
    size_t least = d->equations < d->unknowns ? d->equations : d->unknowns;
    d->values = penstock__alloc(d->dual_count * sizeof(double));
    d->matrix = penstock__calloc(d->equations * d->unknowns, sizeof(double));
    d->normal = penstock__calloc(least * least, sizeof(double));
    d->rhs = penstock__alloc(most * sizeof(double));
    d->left = penstock__alloc(most * sizeof(double));
    d->change = penstock__alloc(most * sizeof(double));
    return d->values && d->matrix && d->normal && d->rhs && d->left && d->change ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static void release(struct dual *d)
{
    penstock__free(d->values);
    penstock__free(d->matrix);
    penstock__free(d->normal);
    penstock__free(d->rhs);
    penstock__free(d->left);
    penstock__free(d->change);
}

static int check(const struct dual *d, float *dual)
{
    size_t tap_count = d->tap_count, dual_count = d->dual_count;
    int status;
    if (!dual || !d->taps)
        return bad("penstock_channelizer_dual: dual or taps is NULL");
    if ((status = penstock__prototype_check(d->taps, &tap_count, d->channels, d->hop)) ||
        (status = penstock__prototype_check(NULL, &dual_count, d->channels, d->hop)))
        return status;
    if (!d->dual_count || d->delay > tap_count + dual_count - 2)
        return bad("a delay of %zu does not go with %zu and %zu taps", d->delay, tap_count, d->dual_count);
    return PENSTOCK_OK;
}

int penstock_channelizer_dual(float *dual, size_t dual_count, const float *taps, size_t tap_count, size_t channels,
                              size_t hop, size_t delay, double *error_db)
{
    int status = penstock__channels_check(channels, &hop);
    struct dual d = {.taps = taps,
                     .tap_count = tap_count,
                     .dual_count = dual_count,
                     .channels = channels,
                     .hop = hop,
                     .delay = delay};
    if (status || (status = check(&d, dual)))
        return status;
    size_t below = delay / channels, above = (tap_count + dual_count - 2 - delay) / channels;
    d.first = -(ptrdiff_t)above;
    d.equations = above + below + 1;
    d.unknowns = (dual_count - 1) / hop + 1;
    if ((status = allocate(&d)) || (status = match(&d)))
        goto done;
    if (mean_residual(&d) > GOOD)
        for (size_t q = 0; q < hop && q < dual_count; q++)
            improve(&d, q);
    for (size_t j = 0; j < dual_count; j++)
        d.values[j] = (double)(dual[j] = (float)d.values[j]);
    if (error_db)
        *error_db = 10 * log10(mean_residual(&d) + 1e-30);
done:
    release(&d);
    return status;
}
