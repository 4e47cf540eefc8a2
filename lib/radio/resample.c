/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A source's samples at another rate: the resampler of lib/ops on the reader's thread. */
#include "radio/resample.h"
#include "backends/backend.h"
#include "ops/resampler/resampler_engine.h"

#define MAX_FACTOR     256.0
#define ATTENUATION_DB 88.0 /* so that the pass band is within 80 dB of what it was, too */

struct penstock__resampler {
    struct resampler engine;
    uint64_t in_total, out_total;
};

int penstock__resampler_new(struct penstock__resampler **resampler, double from_hz, double to_hz)
{
    const double ratio = to_hz / from_hz;
    struct penstock__resampler *made;
    struct resampler_order order;
    int status;
    *resampler = NULL;
    if (!(ratio >= 1.0 / MAX_FACTOR && ratio <= MAX_FACTOR))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "cannot resample from %.15g to %.15g samples per second: more than a factor of %g",
                               from_hz, to_hz, MAX_FACTOR);
    if ((status = penstock__resampler_check(&order,
                                            &PENSTOCK_RESAMPLER_DESC(.ratio = ratio, .attenuation_db = ATTENUATION_DB,
                                                                     .passband = 0.42, .transition = 0.08))))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = penstock__resampler_init(&made->engine, NULL, &order))) {
        penstock__resampler_free(made);
        return status;
    }
    *resampler = made;
    return PENSTOCK_OK;
}

void penstock__resampler_free(struct penstock__resampler *resampler)
{
    if (!resampler)
        return;
    penstock__resampler_clear(&resampler->engine);
    penstock__free(resampler);
}

void penstock__resampler_run(struct penstock__resampler *resampler, const penstock_cf32 *in, size_t in_count,
                             size_t *taken, penstock_cf32 *out, size_t capacity, size_t *count)
{
    size_t some = 1;
    *taken = *count = 0;
    while (*count < capacity && some) {
        const size_t made = penstock__resampler_make(&resampler->engine, out + *count, capacity - *count);
        *count += made;
        some = made;
        if (*count < capacity && *taken < in_count) {
            const size_t took = penstock__resampler_take(&resampler->engine, in + *taken, in_count - *taken);
            *taken += took;
            some += took;
        }
    }
    resampler->in_total += *taken;
    resampler->out_total += *count;
}

void penstock__resampler_finish(struct penstock__resampler *resampler)
{
    penstock__resampler_end(&resampler->engine);
}

bool penstock__resampler_done(const struct penstock__resampler *resampler)
{
    return resampler->engine.finished &&
           resampler->out_total == penstock__resampler_count(resampler, resampler->in_total);
}

uint64_t penstock__resampler_span(const struct penstock__resampler *resampler, uint64_t n)
{
    return penstock__resampler_nearest(resampler->engine.first_ratio, n);
}

uint64_t penstock__resampler_count(const struct penstock__resampler *resampler, uint64_t n)
{
    return penstock__resampler_scaled(resampler->engine.first_ratio, n);
}
