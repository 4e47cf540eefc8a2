/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Taps whose largest weighted error is the least possible, by the exchange of extrema.
 *
 * T. Parks and J. McClellan, "Chebyshev approximation for nonrecursive digital filters with linear phase", IEEE Trans.
 * Circuit Theory 19(2), 1972. The response between the extrema by barycentric interpolation, in double precision, with
 * weights whose size is kept as a logarithm: J. Berrut and L. Trefethen, SIAM Review 46(3), 2004.
 */
#include "backends/backend.h"
#include "ops/filter/filter_response.h"

#include <math.h>

#define PI         3.14159265358979323846
#define MOST_TAPS  2047
#define DENSITY    64 /* points of the grid for each extremum */
#define ITERATIONS 100
#define SETTLED    1e-4 /* what the largest error may exceed the others by, relatively */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "taps: " __VA_ARGS__)

struct point {
    double f, x;           /* frequency, and cos(2 pi f) */
    double wanted, weight; /* of the polynomial in x */
    double error;          /* weighted */
    bool first, last;      /* of its band */
};

struct design {
    size_t count, extrema;
    struct penstock__band bands[3];
    size_t band_count;
    struct point *grid;
    size_t points;
    size_t *at; /* the extrema, ascending places in the grid; one more than there can be is room for */
    double *node, *value, *factor; /* of the interpolation, at the extrema */
    double deviation;              /* the error at the extrema, alternating */
};

/* ---------------------------------------------------------------- grid ------------------------ */

/* A response of an even number of taps is cos(pi f) times a polynomial. */
static double even_factor(const struct design *d, double f)
{
    return d->count % 2 ? 1 : cos(PI * f);
}

static void add_band(struct design *d, const struct penstock__band *band)
{
    double step = 0.5 / (DENSITY * (double)d->extrema), to = band->to;
    if (d->count % 2 == 0 && to > 0.5 - step)
        to = 0.5 - step;
    size_t steps = (size_t)ceil((to - band->from) / step);
    for (size_t i = 0; i <= steps; i++) {
        double f = i < steps ? band->from + (double)i * step : to, factor = even_factor(d, f);
        d->grid[d->points++] = (struct point){.f = f,
                                              .x = cos(2 * PI * f),
                                              .wanted = band->gain / factor,
                                              .weight = band->weight * factor,
                                              .first = i == 0,
                                              .last = i == steps};
    }
}

static void fill_grid(struct design *d, penstock_band band, const double *edges, double stop_weight)
{
    bool inside = band == PENSTOCK_LOW_PASS || band == PENSTOCK_BAND_REJECT; /* does zero frequency pass? */
    d->band_count = band == PENSTOCK_BAND_PASS || band == PENSTOCK_BAND_REJECT ? 3 : 2;
    for (size_t b = 0; b < d->band_count; b++) {
        bool pass = (b % 2 == 0) == inside;
        d->bands[b] = (struct penstock__band){.from = b ? edges[2 * b - 1] : 0,
                                              .to = b + 1 < d->band_count ? edges[2 * b] : 0.5,
                                              .gain = pass ? 1 : 0,
                                              .weight = pass ? 1 : stop_weight};
        add_band(d, &d->bands[b]);
    }
    for (size_t i = 0; i < d->extrema; i++)
        d->at[i] = i * (d->points - 1) / (d->extrema - 1);
}

/* ---------------------------------------------------------------- interpolation --------------- */

/* Factors 1 / product of (node - other nodes), over the largest of them. */
static void find_factors(struct design *d)
{
    double largest = -INFINITY;
    for (size_t i = 0; i < d->extrema; i++)
        d->node[i] = d->grid[d->at[i]].x;
    for (size_t i = 0; i < d->extrema; i++) {
        double logarithm = 0;
        for (size_t j = 0; j < d->extrema; j++)
            logarithm -= i == j ? 0 : log(fabs(d->node[i] - d->node[j]));
        d->factor[i] = logarithm;
        largest = fmax(largest, logarithm);
    }
    for (size_t i = 0; i < d->extrema; i++)
        d->factor[i] = (i % 2 ? -1 : 1) * exp(d->factor[i] - largest); /* nodes descend, so signs alternate */
}

static void interpolate_extrema(struct design *d)
{
    double wanted = 0, unit = 0;
    find_factors(d);
    for (size_t i = 0; i < d->extrema; i++) {
        const struct point *point = &d->grid[d->at[i]];
        wanted += d->factor[i] * point->wanted;
        unit += d->factor[i] * (i % 2 ? -1 : 1) / point->weight;
    }
    d->deviation = wanted / unit;
    for (size_t i = 0; i < d->extrema; i++) {
        const struct point *point = &d->grid[d->at[i]];
        d->value[i] = point->wanted - (i % 2 ? -1 : 1) * d->deviation / point->weight;
    }
}

static double polynomial(const struct design *d, double x)
{
    double over = 0, under = 0;
    for (size_t i = 0; i < d->extrema; i++) {
        double distance = x - d->node[i];
        if (fabs(distance) < 1e-15)
            return d->value[i];
        over += d->factor[i] / distance * d->value[i];
        under += d->factor[i] / distance;
    }
    return over / under;
}

/* ---------------------------------------------------------------- exchange -------------------- */

static bool is_extremum(const struct design *d, size_t i)
{
    const struct point *p = &d->grid[i];
    double size = fabs(p->error);
    return (p->first || size >= fabs(p[-1].error) || p[-1].error * p->error < 0) &&
           (p->last || size > fabs(p[1].error) || p[1].error * p->error < 0);
}

/* Extrema of alternating sign, the larger of two neighbours of one sign; how many. */
static size_t find_extrema(const struct design *d, size_t *at)
{
    size_t found = 0;
    for (size_t i = 0; i < d->points; i++) {
        if (!is_extremum(d, i))
            continue;
        double error = d->grid[i].error, before = found ? d->grid[at[found - 1]].error : 0;
        if (found && error * before > 0)
            at[found - 1] = fabs(error) > fabs(before) ? i : at[found - 1];
        else
            at[found++] = i;
    }
    return found;
}

/* Leaves out what is too much: an end, or where two are too many the smallest with the neighbour that it parts from its
 * like. */
static size_t thin_out(const struct design *d, size_t *at, size_t found)
{
    while (found > d->extrema) {
        size_t smallest = 0, gone = 1;
        for (size_t i = 1; i < found; i++)
            if (fabs(d->grid[at[i]].error) < fabs(d->grid[at[smallest]].error))
                smallest = i;
        if (found == d->extrema + 1)
            smallest = fabs(d->grid[at[0]].error) < fabs(d->grid[at[found - 1]].error) ? 0 : found - 1;
        else if (smallest && smallest + 1 < found) {
            gone = 2;
            smallest -= fabs(d->grid[at[smallest - 1]].error) < fabs(d->grid[at[smallest + 1]].error) ? 1 : 0;
        }
        for (size_t i = smallest; i + gone < found; i++)
            at[i] = at[i + gone];
        found -= gone;
    }
    return found;
}

/* One exchange; true when the extrema are level. */
static bool exchange(struct design *d, size_t *candidates, bool *lost)
{
    double largest = 0;
    interpolate_extrema(d);
    for (size_t i = 0; i < d->points; i++) {
        struct point *p = &d->grid[i];
        p->error = p->weight * (p->wanted - polynomial(d, p->x));
        largest = fmax(largest, fabs(p->error));
    }
    if (largest <= fabs(d->deviation) * (1 + SETTLED))
        return true;
    size_t found = thin_out(d, candidates, find_extrema(d, candidates));
    *lost = found < d->extrema || !isfinite(d->deviation);
    for (size_t i = 0; i < d->extrema && !*lost; i++)
        d->at[i] = candidates[i];
    return false;
}

/* ---------------------------------------------------------------- taps ------------------------ */

/* By the inverse transform of as many values of the response as there are taps. */
static void make_taps(const struct design *d, float *taps)
{
    size_t half = (d->count - 1) / 2;
    double middle = ((double)d->count - 1) / 2;
    for (size_t n = 0; n < d->count; n++)
        taps[n] = 0;
    for (size_t n = 0; n <= half; n++) {
        double sum = 0;
        for (size_t k = 0; k <= half; k++)
            sum += (k ? 2 : 1) * d->value[k] * cos(2 * PI * (double)k * ((double)n - middle) / (double)d->count);
        taps[n] = taps[d->count - 1 - n] = (float)(sum / (double)d->count);
    }
}

static int solve(struct design *d, size_t *candidates, float *taps)
{
    bool level = false, lost = false;
    for (int i = 0; i < ITERATIONS && !level && !lost; i++)
        level = exchange(d, candidates, &lost);
    if (!level)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "taps: no equiripple design found for %zu taps and these bands; try fewer taps",
                               d->count);
    double *sampled = penstock__alloc((d->count + 1) / 2 * sizeof *sampled);
    if (!sampled)
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < (d->count + 1) / 2; k++) {
        double f = (double)k / (double)d->count;
        sampled[k] = even_factor(d, f) * polynomial(d, cos(2 * PI * f));
    }
    double *nodes = d->value;
    d->value = sampled;
    make_taps(d, taps);
    d->value = nodes;
    penstock__free(sampled);
    return PENSTOCK_OK;
}

static int check(size_t count, penstock_band band, const double *edges, double stop_weight)
{
    size_t wanted = band == PENSTOCK_BAND_PASS || band == PENSTOCK_BAND_REJECT ? 4 : 2;
    if ((unsigned)band > PENSTOCK_BAND_REJECT)
        return bad("band %d is not PENSTOCK_LOW_PASS, _HIGH_PASS, _BAND_PASS or _BAND_REJECT", (int)band);
    if (count < 3 || count > MOST_TAPS)
        return bad("%zu equiripple taps, not 3 .. %d", count, MOST_TAPS);
    if (count % 2 == 0 && (band == PENSTOCK_HIGH_PASS || band == PENSTOCK_BAND_REJECT))
        return bad("%zu taps are an even number: they have a zero at half the sample rate, which is to pass", count);
    for (size_t i = 0; i < wanted; i++)
        if (!(edges[i] > (i ? edges[i - 1] : 0) && edges[i] < 0.5))
            return bad("band edges are not in order between 0 and 0.5: edge %zu is %g", i, edges[i]);
    if (!(stop_weight > 0 && stop_weight <= 1e6))
        return bad("stop_weight %g is not above 0, at most 1e6", stop_weight);
    return PENSTOCK_OK;
}

int penstock_taps_equiripple(float *taps, size_t count, penstock_band band, const double *edges, double stop_weight,
                             double *ripple)
{
    struct design d = {.count = count, .extrema = (count + 1) / 2 + 1};
    int status;
    if (!taps || !edges)
        return bad("penstock_taps_equiripple: taps or edges is NULL");
    if ((status = check(count, band, edges, stop_weight)))
        return status;
    size_t most = DENSITY * d.extrema + 16;
    size_t *candidates = penstock__alloc(most * sizeof *candidates);
    d.grid = penstock__alloc(most * sizeof *d.grid);
    d.at = penstock__alloc(d.extrema * sizeof *d.at);
    d.node = penstock__alloc(d.extrema * sizeof *d.node);
    d.value = penstock__alloc(d.extrema * sizeof *d.value);
    d.factor = penstock__alloc(d.extrema * sizeof *d.factor);
    status = PENSTOCK_ERR_MEMORY;
    if (candidates && d.grid && d.at && d.node && d.value && d.factor) {
        fill_grid(&d, band, edges, stop_weight);
        status = solve(&d, candidates, taps);
        if (!status && ripple)
            status = penstock__taps_error(ripple, taps, count, d.bands, d.band_count);
    }
    penstock__free(d.factor);
    penstock__free(d.value);
    penstock__free(d.node);
    penstock__free(d.at);
    penstock__free(d.grid);
    penstock__free(candidates);
    return status;
}
