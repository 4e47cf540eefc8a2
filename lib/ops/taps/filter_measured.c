/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Kaiser's formulas are estimates: the ripples of two edges add, and few taps or little attenuation miss by decibels.
 * So a design is measured, and made anew for more attenuation until it does what was asked.
 */
#include "backends/backend.h"
#include "ops/filter/filter_response.h"

#include <math.h>

#define STEP_DB   0.5
#define MOST_DB   16.0
#define BETWEEN   0.995 /* the response between two measured points */
#define SHORTENED 4096  /* so many taps or fewer are tried with two less as well */

struct request {
    penstock_band band;
    double low, high, transition, attenuation_db;
    struct penstock__band bands[3];
    size_t band_count;
};

/* What is to pass and what is not, half a transition off the edges. */
static void fill_bands(struct request *r)
{
    bool two = r->band == PENSTOCK_BAND_PASS || r->band == PENSTOCK_BAND_REJECT;
    double gain = r->band == PENSTOCK_LOW_PASS || r->band == PENSTOCK_BAND_REJECT ? 1 : 0, half = r->transition / 2;
    double low = r->low, high = two ? r->high : 0.5 + half;
    r->band_count = two ? 3 : 2;
    r->bands[0] = (struct penstock__band){0, low - half, gain, 1};
    r->bands[1] = (struct penstock__band){low + half, high - half, 1 - gain, 1};
    r->bands[2] = (struct penstock__band){high + half, 0.5, gain, 1};
}

/* `*error`: what the design for this much attenuation has, over what was asked. */
static int try_design(const struct request *r, double *error, float *taps, size_t count, double attenuation_db)
{
    int status = penstock_taps_design(taps, count, r->band, r->low, r->high, attenuation_db);
    if (!status)
        status = penstock__taps_error(error, taps, count, r->bands, r->band_count);
    *error *= pow(10, r->attenuation_db / 20) / BETWEEN;
    return status;
}

/* Takes two taps off while the design holds. */
static int shorten(const struct request *r, float *taps, size_t *count, double attenuation_db)
{
    double error = 0;
    int status = PENSTOCK_OK;
    while (!status && error <= 1 && *count > 3 && *count <= SHORTENED)
        if (!(status = try_design(r, &error, taps, *count - 2, attenuation_db)) && error <= 1)
            *count -= 2;
    return status ? status : try_design(r, &error, taps, *count, attenuation_db);
}

static int lengthen(const struct request *r, float *taps, size_t *count, size_t room)
{
    double least = INFINITY;
    for (double more_db = 0; more_db <= MOST_DB; more_db += STEP_DB) {
        double asked_db = fmin(r->attenuation_db + more_db, 200), error = INFINITY;
        *count = penstock_taps_length(r->transition, asked_db);
        if (!*count || *count > room)
            return penstock__error(PENSTOCK_ERR_ARGUMENT, "taps: %zu are too few for a transition of %g and %g dB",
                                   room, r->transition, r->attenuation_db);
        int status = try_design(r, &error, taps, *count, asked_db);
        if (status)
            return status;
        if (error <= 1)
            return shorten(r, taps, count, asked_db);
        least = fmin(least, error);
    }
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                           "taps: the design for %g dB reaches %.1f dB: float taps cannot be told from better ones",
                           r->attenuation_db, r->attenuation_db - 20 * log10(least));
}

int penstock_taps_measured(float *taps, size_t *count, penstock_band band, double low, double high, double transition,
                           double attenuation_db)
{
    struct request r = {
        .band = band, .low = low, .high = high, .transition = transition, .attenuation_db = attenuation_db};
    if (!taps || !count)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_taps_measured: taps or count is NULL");
    size_t room = *count;
    *count = 0;
    if (!penstock_taps_length(transition, attenuation_db))
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "taps: no filter has a transition of %g cycles per sample and %g dB", transition,
                               attenuation_db);
    fill_bands(&r);
    int status = lengthen(&r, taps, count, room);
    if (status)
        *count = 0;
    return status;
}
