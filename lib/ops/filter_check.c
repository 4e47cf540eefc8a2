/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Refuses what no filter can be, and says why. */
#include "ops/filter_check.h"

#include <math.h>

#define MAX_TAPS       ((size_t)1 << 20)
#define MAX_DECIMATION ((size_t)1 << 20)
#define MAX_LENGTH     ((size_t)1 << 23)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter: " __VA_ARGS__)

int penstock__filter_check_taps(const penstock_cf32 *complex_taps, const float *real_taps, size_t count, size_t most)
{
    if (!complex_taps == !real_taps)
        return bad("%s of taps and real_taps are NULL; give exactly one", complex_taps ? "none" : "both");
    if (count < 1 || count > most)
        return bad("%zu taps, not 1 .. %zu", count, most);
    for (size_t k = 0; k < count; k++)
        if (real_taps ? !isfinite(real_taps[k]) : !isfinite(complex_taps[k].re) || !isfinite(complex_taps[k].im))
            return bad("tap %zu is not finite", k);
    return PENSTOCK_OK;
}

int penstock__filter_check(penstock_filter_desc *desc)
{
    int status;
    if (!penstock_format_bytes(desc->format))
        return bad("format %d is no sample format", (int)desc->format);
    if ((status = penstock__filter_check_taps(desc->taps, desc->real_taps, desc->tap_count, MAX_TAPS)))
        return status;
    if (!desc->max_taps)
        desc->max_taps = desc->tap_count;
    if (desc->max_taps < desc->tap_count || desc->max_taps > MAX_TAPS)
        return bad("max_taps is %zu, not %zu (tap_count) .. %zu", desc->max_taps, desc->tap_count, MAX_TAPS);
    if (!desc->decimation)
        desc->decimation = 1;
    if (desc->decimation > MAX_DECIMATION)
        return bad("decimation is %zu, not 1 .. %zu", desc->decimation, MAX_DECIMATION);
    if (!(fabs(desc->shift) <= 0.5))
        return bad("shift is %g, not -0.5 .. 0.5 turns per sample", desc->shift);
    if (!isfinite(desc->phase))
        return bad("phase is %g, not finite", desc->phase);
    desc->phase = remainder(desc->phase, 1);
    if (!(desc->max_latency_s >= 0))
        return bad("max_latency_s is %g, not 0 or more", desc->max_latency_s);
    if (desc->advance >= desc->tap_count)
        return bad("advance is %zu, not 0 .. %zu (tap_count - 1)", desc->advance, desc->tap_count - 1);
    if (desc->n && (desc->n > MAX_LENGTH || desc->n < desc->max_taps + 2 * desc->decimation))
        return bad("n is %zu, not %zu (max_taps + 2 decimation) .. %zu", desc->n, desc->max_taps + 2 * desc->decimation,
                   MAX_LENGTH);
    return PENSTOCK_OK;
}

/* A stream has no planar form, and eight unsigned bits have no zero to begin and end with. */
void penstock__filter_shape_of(struct filter_shape *shape, const penstock_filter_desc *desc)
{
    bool f32 = desc->format == PENSTOCK_F32, real = f32 && desc->real_taps && desc->shift == 0 && desc->phase == 0;
    bool convert = desc->format == PENSTOCK_PLANAR || desc->format == PENSTOCK_CU8 || f32;
    *shape = (struct filter_shape){
        .format = real      ? PENSTOCK_F32
                  : convert ? PENSTOCK_CF32
                            : desc->format,
        .real = real,
        .taps = desc->max_taps,
        .interpolation = 1,
        .decimation = desc->decimation,
        .advance = desc->advance,
        .max_latency = desc->max_latency,
    };
}
