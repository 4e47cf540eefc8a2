/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a resampler's description may be, and its defaults. */
#include "backends/backend.h"
#include "ops/resampler/resampler_engine.h"

#define MOST_RATIO 1024
#define MOST_TERM  ((uint64_t)1 << 31)
#define MOST_TAPS  ((size_t)1 << 20)
#define MOST_ARMS  ((size_t)1 << 16)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "resampler: " __VA_ARGS__)

static int check_ratio(struct resampler_order *order)
{
    penstock_resampler_desc *desc = &order->desc;
    const uint64_t up = desc->interpolation ? desc->interpolation : 1, down = desc->decimation ? desc->decimation : 1;
    const double ratio = desc->ratio != 0 ? desc->ratio : (double)up / (double)down;
    if (desc->ratio != 0 && (desc->interpolation || desc->decimation))
        return bad("both of ratio and interpolation or decimation");
    if (up > MOST_TERM || down > MOST_TERM)
        return bad("interpolation or decimation is more than 2^31");
    if (!(ratio >= 1.0 / MOST_RATIO && ratio <= MOST_RATIO))
        return bad("a ratio of %g is not 1/%d .. %d", ratio, MOST_RATIO, MOST_RATIO);
    order->ratio = desc->ratio != 0 ? penstock__resampler_ratio(ratio) : penstock__resampler_reduced(up, down);
    if (desc->min_ratio != 0 && !(desc->min_ratio >= 1.0 / MOST_RATIO && desc->min_ratio <= ratio))
        return bad("min_ratio is %g, not 1/%d .. %g (the ratio)", desc->min_ratio, MOST_RATIO, ratio);
    if (desc->min_ratio == 0)
        desc->min_ratio = ratio;
    return PENSTOCK_OK;
}

static int check_response(penstock_resampler_desc *desc)
{
    if (desc->attenuation_db == 0)
        desc->attenuation_db = 80;
    if (desc->passband == 0)
        desc->passband = 0.4;
    if (!(desc->attenuation_db >= 20 && desc->attenuation_db <= 120))
        return bad("attenuation_db is %g, not 20 .. 120", desc->attenuation_db);
    if (!(desc->passband > 0 && desc->passband < 0.5))
        return bad("passband is %g, not between 0 and 0.5", desc->passband);
    const double most = 1 - 2 * desc->passband;
    if (desc->transition == 0)
        desc->transition = most;
    if (!(desc->transition >= 0.002 && desc->transition <= most + 1e-9)) /* 0.2 and 1 - 0.8 are two numbers */
        return bad("transition is %g, not 0.002 .. %g: the pass band would have images", desc->transition, most);
    return PENSTOCK_OK;
}

static int check_taps(penstock_resampler_desc *desc)
{
    if (desc->taps && desc->real_taps)
        return bad("both of taps and real_taps");
    if (!desc->tap_count || desc->tap_count > MOST_TAPS)
        return bad("%zu taps, not 1 .. %zu", desc->tap_count, MOST_TAPS);
    if (!desc->max_taps)
        desc->max_taps = desc->tap_count;
    if (desc->max_taps < desc->tap_count || desc->max_taps > MOST_TAPS)
        return bad("max_taps is %zu, not %zu (tap_count) .. %zu", desc->max_taps, desc->tap_count, MOST_TAPS);
    if (!desc->arms)
        desc->arms = 32;
    if (desc->arms > MOST_ARMS)
        return bad("%zu arms are more than %zu", desc->arms, MOST_ARMS);
    if (desc->attenuation_db != 0 || desc->passband != 0 || desc->transition != 0)
        return bad("attenuation_db, passband and transition are for taps that the library makes");
    return PENSTOCK_OK;
}

int penstock__resampler_check(struct resampler_order *order, const penstock_resampler_desc *desc)
{
    int status;
    order->desc = *desc;
    order->apart = false;
    if (!penstock_format_bytes(desc->format) || desc->format == PENSTOCK_PLANAR)
        return bad("format %d is none of samples one behind the other", (int)desc->format);
    if (!(desc->phase >= 0 && desc->phase < 1))
        return bad("phase is %g, not 0 or more and below 1", desc->phase);
    if (!(desc->max_latency_s >= 0))
        return bad("max_latency_s is %g, not 0 or more", desc->max_latency_s);
    if ((status = check_ratio(order)))
        return status;
    if (desc->taps || desc->real_taps)
        return check_taps(&order->desc);
    if (desc->tap_count || desc->arms || desc->max_taps)
        return bad("there are %zu taps at NULL, or arms or max_taps without taps", desc->tap_count);
    return check_response(&order->desc);
}
