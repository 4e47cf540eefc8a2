/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The response of symmetric taps at equally spaced frequencies, by the double-precision DFT. Its delay of
 * (count - 1) / 2 samples is turned back, so that it is real.
 */
#include "ops/filter/filter_response.h"
#include "backends/backend.h"

#include <math.h>
#include <string.h>

#define PI          3.14159265358979323846
#define OVERSAMPLED 16
#define LEAST       1024

static double error_at_edges(const struct penstock__band *band, const float *taps, size_t count)
{
    double from = -band->gain, to = -band->gain, middle = ((double)count - 1) / 2;
    for (size_t k = 0; k < count; k++) {
        from += (double)taps[k] * cos(2 * PI * remainder(band->from * ((double)k - middle), 1));
        to += (double)taps[k] * cos(2 * PI * remainder(band->to * ((double)k - middle), 1));
    }
    return fmax(fabs(from), fabs(to));
}

struct response {
    const double *values; /* the transform's */
    size_t n, count;
};

static double error_at(const struct response *r, ptrdiff_t k, double gain)
{
    size_t point = (size_t)(k < 0 ? -k : k);
    double angle = 2 * PI * remainder((double)point / (double)r->n * ((double)r->count - 1) / 2, 1);
    return r->values[2 * point] * cos(angle) - r->values[2 * point + 1] * sin(angle) - gain;
}

/* On the parabola through three points, where its extremum is in the band; 0 elsewhere. */
static double error_between(const struct response *r, const struct penstock__band *band, ptrdiff_t k,
                            const double error[3])
{
    double slope = error[0] - error[2], bend = error[0] - 2 * error[1] + error[2];
    double at = ((double)k + slope / (2 * bend)) / (double)r->n;
    bool extremum = (error[1] - error[0]) * (error[1] - error[2]) > 0 && at >= band->from && at <= band->to;
    return extremum ? fabs(error[1] - slope * slope / (8 * bend)) : 0;
}

static double error_in(const struct response *r, const struct penstock__band *band)
{
    ptrdiff_t first = (ptrdiff_t)ceil(band->from * (double)r->n), last = (ptrdiff_t)floor(band->to * (double)r->n);
    double error[3] = {0, error_at(r, first - 2, band->gain), error_at(r, first - 1, band->gain)}, largest = 0;
    for (ptrdiff_t k = first - 1; k <= last + 1; k++) {
        error[0] = error[1];
        error[1] = error[2];
        error[2] = error_at(r, k + 1, band->gain);
        largest = fmax(largest, error_between(r, band, k, error));
    }
    return largest;
}

int penstock__taps_error(double *error, const float *taps, size_t count, const struct penstock__band *bands,
                         size_t band_count)
{
    struct penstock_dft_plan *plan;
    size_t n = LEAST;
    while (n < OVERSAMPLED * count)
        n *= 2;
    int status = penstock__dft_plan_new(&plan, n, PENSTOCK_FORWARD);
    if (status)
        return status;
    double *values = penstock__alloc(2 * n * sizeof *values);
    void *scratch = penstock__alloc(penstock__dft_plan_scratch_bytes(plan));
    status = PENSTOCK_ERR_MEMORY;
    if (values && scratch) {
        memset(values, 0, 2 * n * sizeof *values);
        for (size_t k = 0; k < count; k++)
            values[2 * k] = (double)taps[k];
        penstock__dft_plan_run(plan, values, scratch);
        const struct response response = {.values = values, .n = n, .count = count};
        *error = 0;
        for (size_t i = 0; i < band_count; i++)
            if (bands[i].from <= bands[i].to)
                *error = fmax(*error, bands[i].weight *
                                          fmax(error_in(&response, &bands[i]), error_at_edges(&bands[i], taps, count)));
        status = PENSTOCK_OK;
    }
    penstock__free(scratch);
    penstock__free(values);
    penstock__dft_plan_free(plan);
    return status;
}
