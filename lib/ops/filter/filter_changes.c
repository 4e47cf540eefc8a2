/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What of a filter changes while it runs: sets of taps with their shifts. */
#include "ops/filter/filter_check.h"
#include "ops/filter/filter_stream.h"

#include <math.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter: " __VA_ARGS__)

int penstock__filter_set_new(struct filter_taps **taps, const struct filter_stream *filter, size_t channel,
                             const penstock_filter_channel *asked, struct filter_shift shift)
{
    const struct filter_line *line = &filter->lines[channel];
    int status = penstock__filter_taps_new(taps, filter->shape, shift, asked->taps, asked->real_taps, asked->tap_count);
    if (status)
        return status;
    if ((status = penstock__filter_taps_rotate(*taps, filter->shape, line->newest, line->phase != 0)) ||
        ((filter->shape->rotated || filter->build || filter->order) &&
         (status = penstock__filter_taps_keep(*taps, asked->taps, asked->real_taps)))) {
        penstock__filter_taps_free(*taps);
        *taps = NULL;
    }
    return status;
}

/* The position from which on a change holds. */
static int position_of(const struct filter_stream *filter, const struct filter_line *line, uint64_t at, uint64_t *from)
{
    size_t up = filter->shape->interpolation;
    *from = at > UINT64_MAX / up ? UINT64_MAX : at * up;
    if (at < filter->stream.taken || *from < line->newest->from)
        return bad("a change from sample %llu on; the first that it can hold from is %llu", (unsigned long long)at,
                   (unsigned long long)(at < filter->stream.taken ? filter->stream.taken : line->newest->from / up));
    return PENSTOCK_OK;
}

static void append(struct filter_line *line, struct filter_taps *made, uint64_t from)
{
    struct filter_taps *last = line->taps;
    while (last->next)
        last = last->next;
    made->from = from;
    last->next = made;
    line->newest = made;
}

/* ---------------------------------------------------------------- taps ------------------------ */

static int check_taps(const struct filter_stream *filter, size_t channel, const penstock_filter_channel *asked)
{
    int status;
    if (channel >= filter->channels)
        return bad("channel %zu of %zu", channel, filter->channels);
    if ((status = penstock__filter_check_taps(asked->taps, asked->real_taps, asked->tap_count, filter->desc.max_taps)))
        return status;
    if (asked->taps && filter->shape->value_bytes == sizeof(float))
        return bad("complex taps do not go with real values");
    if (asked->tap_count <= filter->shape->advance)
        return bad("%zu taps do not go with an advance of %zu", asked->tap_count, filter->shape->advance);
    return PENSTOCK_OK;
}

int penstock_filter_set_channel_taps(penstock_stream *stream, size_t channel, const penstock_cf32 *taps,
                                     const float *real_taps, size_t tap_count, uint64_t at)
{
    const penstock_filter_channel asked = {.taps = taps, .real_taps = real_taps, .tap_count = tap_count};
    struct filter_taps *made;
    struct filter_stream *filter = filter_of(stream);
    uint64_t from;
    int status = penstock__stream_is(stream, &penstock__filter_kind, "penstock_filter_set_taps");
    if (status || (status = check_taps(filter, channel, &asked)))
        return status;
    struct filter_line *line = &filter->lines[channel];
    if ((status = position_of(filter, line, at, &from)) ||
        (status = penstock__filter_set_new(&made, filter, channel, &asked, line->newest->shift)))
        return status;
    append(line, made, from);
    return PENSTOCK_OK;
}

int penstock_filter_set_taps(penstock_stream *stream, const penstock_cf32 *taps, const float *real_taps,
                             size_t tap_count, uint64_t at)
{
    return penstock_filter_set_channel_taps(stream, 0, taps, real_taps, tap_count, at);
}

/* ---------------------------------------------------------------- shift ----------------------- */

static int check_shift(const struct filter_stream *filter, size_t channel, double shift, double jump)
{
    if (channel >= filter->channels)
        return bad("channel %zu of %zu", channel, filter->channels);
    if (!filter->shape->rotated)
        return penstock__error(PENSTOCK_ERR_STATE,
                               "filter: no shift can be set where the description has neither `tunable` nor a shift");
    return penstock__filter_check_shift(shift, "jump", jump);
}

int penstock_filter_set_shift(penstock_stream *stream, size_t channel, double shift, double jump, uint64_t at)
{
    struct filter_taps *made;
    struct filter_stream *filter = filter_of(stream);
    uint64_t from;
    int status = penstock__stream_is(stream, &penstock__filter_kind, "penstock_filter_set_shift");
    if (status || (status = check_shift(filter, channel, shift, jump)))
        return status;
    struct filter_line *line = &filter->lines[channel];
    const struct filter_taps *newest = line->newest;
    const penstock_filter_channel asked = {.taps = newest->given_real ? NULL : newest->given,
                                           .real_taps = newest->given_real ? newest->given : NULL,
                                           .tap_count = newest->count};
    struct filter_shift next = {shift, 0};
    next.phase = penstock__filter_phase(newest->shift, at) + penstock__filter_turns(remainder(jump, 1)) -
                 penstock__filter_phase(next, at);
    if ((status = position_of(filter, line, at, &from)) ||
        (status = penstock__filter_set_new(&made, filter, channel, &asked, next)))
        return status;
    append(line, made, from);
    return PENSTOCK_OK;
}
