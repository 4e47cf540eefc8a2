/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Refuses what no filter can be, and says why. */
#include "ops/filter/filter_check.h"

#include <math.h>

#define MAX_TAPS       ((size_t)1 << 20)
#define MAX_DECIMATION ((size_t)1 << 20)
#define MAX_LENGTH     ((size_t)1 << 23)

#define MAX_INTERPOLATION ((size_t)1 << 10)
#define MAX_CHANNELS      ((size_t)1 << 16)
#define LEAST_BLOCKS      32 /* transforms, in decimations, for partitioned taps */

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

penstock_filter_channel penstock__filter_channel_of(const penstock_filter_desc *desc, size_t channel)
{
    if (desc->channel_count)
        return desc->channels[channel];
    return (penstock_filter_channel){.taps = desc->taps,
                                     .real_taps = desc->real_taps,
                                     .tap_count = desc->tap_count,
                                     .shift = desc->shift,
                                     .phase = desc->phase};
}

size_t penstock__filter_channels(const penstock_filter_desc *desc)
{
    return desc->channel_count ? desc->channel_count : 1;
}

int penstock__filter_check_shift(double shift, const char *phase_name, double phase)
{
    if (!(fabs(shift) <= 0.5))
        return bad("shift is %g, not -0.5 .. 0.5 turns per sample", shift);
    if (!isfinite(phase))
        return bad("%s is %g, not finite", phase_name, phase);
    return PENSTOCK_OK;
}

static int check_channel(const penstock_filter_channel *channel, size_t advance)
{
    int status = penstock__filter_check_taps(channel->taps, channel->real_taps, channel->tap_count, MAX_TAPS);
    if (status)
        return status;
    if ((status = penstock__filter_check_shift(channel->shift, "phase", channel->phase)))
        return status;
    if (advance >= channel->tap_count)
        return bad("advance is %zu, not 0 .. %zu (tap_count - 1)", advance, channel->tap_count - 1);
    return PENSTOCK_OK;
}

/* Each channel, and the most taps. */
static int check_channels(penstock_filter_desc *desc)
{
    size_t most = 0;
    if (desc->channel_count > MAX_CHANNELS || (desc->channel_count && !desc->channels))
        return bad("%zu channels%s, at most %zu are possible", desc->channel_count, desc->channels ? "" : " at NULL",
                   MAX_CHANNELS);
    if (desc->channel_count &&
        (desc->taps || desc->real_taps || desc->tap_count || desc->shift != 0 || desc->phase != 0))
        return bad("taps, shift and phase are the channels' where there are some");
    for (size_t c = 0; c < penstock__filter_channels(desc); c++) {
        penstock_filter_channel channel = penstock__filter_channel_of(desc, c);
        int status = check_channel(&channel, desc->advance);
        if (status)
            return status;
        most = channel.tap_count > most ? channel.tap_count : most;
    }
    if (!desc->max_taps)
        desc->max_taps = most;
    if (desc->max_taps < most || desc->max_taps > MAX_TAPS)
        return bad("max_taps is %zu, not %zu (tap_count) .. %zu", desc->max_taps, most, MAX_TAPS);
    return PENSTOCK_OK;
}

/* Of a transform that the caller asks for: with all taps, or with partitions of them. */
static int check_length(const penstock_filter_desc *desc)
{
    size_t up = desc->interpolation, least = (desc->max_taps + up - 1) / up + 2 * desc->decimation;
    size_t partitions = LEAST_BLOCKS * desc->decimation;
    if (up == 1 && partitions < least)
        least = partitions;
    if (desc->n <= MAX_LENGTH / up && desc->n >= least)
        return PENSTOCK_OK;
    return bad("n is %zu, not %zu (max_taps / interpolation + 2 decimation%s) .. %zu", desc->n, least,
               up == 1 ? ", or 32 decimation" : "", MAX_LENGTH / up);
}

int penstock__filter_check(penstock_filter_desc *desc)
{
    int status;
    if (!penstock_format_bytes(desc->format))
        return bad("format %d is no sample format", (int)desc->format);
    if ((status = check_channels(desc)))
        return status;
    if (!desc->decimation)
        desc->decimation = 1;
    if (desc->decimation > MAX_DECIMATION)
        return bad("decimation is %zu, not 1 .. %zu", desc->decimation, MAX_DECIMATION);
    if (!desc->interpolation)
        desc->interpolation = 1;
    if (desc->interpolation > MAX_INTERPOLATION)
        return bad("interpolation is %zu, not 1 .. %zu", desc->interpolation, MAX_INTERPOLATION);
    if (!(desc->max_latency_s >= 0))
        return bad("max_latency_s is %g, not 0 or more", desc->max_latency_s);
    return desc->n ? check_length(desc) : PENSTOCK_OK;
}

static bool is_rotated(const penstock_filter_desc *desc)
{
    bool rotated = desc->tunable;
    for (size_t c = 0; c < penstock__filter_channels(desc) && !rotated; c++) {
        penstock_filter_channel channel = penstock__filter_channel_of(desc, c);
        rotated = channel.shift != 0 || channel.phase != 0;
    }
    return rotated;
}

/* Whether values are real: what comes in is, and so is what all channels do to it. */
static bool all_real(const penstock_filter_desc *desc)
{
    bool real = desc->format == PENSTOCK_F32 && !is_rotated(desc);
    for (size_t c = 0; c < penstock__filter_channels(desc) && real; c++)
        real = penstock__filter_channel_of(desc, c).real_taps;
    return real;
}

/* A stream has no planar form, and eight unsigned bits have no zero to begin and end with. */
void penstock__filter_shape_of(struct filter_shape *shape, const penstock_filter_desc *desc)
{
    bool f32 = desc->format == PENSTOCK_F32, real = all_real(desc);
    bool convert =
        desc->format == PENSTOCK_PLANAR || desc->format == PENSTOCK_CU8 || desc->format == PENSTOCK_CF16 || f32;
    *shape = (struct filter_shape){
        .format = real      ? PENSTOCK_F32
                  : convert ? PENSTOCK_CF32
                            : desc->format,
        .real = real,
        .rotated = is_rotated(desc),
        .taps = desc->max_taps,
        .interpolation = desc->interpolation,
        .decimation = desc->decimation,
        .advance = desc->advance,
        .max_latency = desc->max_latency,
    };
}
