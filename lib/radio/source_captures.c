/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a source tells of gaps and times: the captures that its kind found, by samples as they are given. */
#include "core/base/description.h"
#include "radio/resample.h"
#include "radio/source_kind.h"

/* The first sample given at or behind a sample of the source's own. */
static uint64_t given_from(const penstock_source *source, uint64_t own)
{
    return source->resampler ? penstock__resampler_count(source->resampler, own) : own;
}

/* A number of own samples in samples as they are given, to the nearest. */
static uint64_t span_given(const penstock_source *source, uint64_t own)
{
    return source->resampler ? penstock__resampler_span(source->resampler, own) : own;
}

/* The last capture that begins at or before a sample given, of those that are known. */
static size_t find_given(const penstock_source *source, uint64_t sample)
{
    const struct penstock__captures *captures = &source->captures;
    size_t low = 0, high = captures->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (given_from(source, captures->items[middle].sample) <= sample)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint64_t penstock__source_until_gap(const penstock_source *source, uint64_t taken)
{
    const struct penstock__captures *captures = &source->captures;
    size_t next = penstock__captures_find(captures, taken) + 1;
    return next < captures->count ? captures->items[next].sample - taken : UINT64_MAX;
}

uint64_t penstock__source_until_gap_given(const penstock_source *source, uint64_t given)
{
    const struct penstock__captures *captures = &source->captures;
    size_t next = find_given(source, given) + 1;
    return next < captures->count ? given_from(source, captures->items[next].sample) - given : UINT64_MAX;
}

void penstock__source_count_lost(penstock_source *source)
{
    const struct penstock__captures *captures = &source->captures;
    const struct penstock__capture *now =
        &captures->items[penstock__captures_find(captures, source->counters.taken - 1)];
    source->counters.lost_samples = now->lost;
    source->counters.unknown_losses = now->unknown;
}

uint64_t penstock__source_first_index(const penstock_source *source)
{
    return span_given(source, source->first_index);
}

bool penstock__source_time(const penstock_source *source, size_t index, long double sample, int64_t *time_ns)
{
    const struct penstock__capture *capture = &source->captures.items[index];
    long double own = sample;
    if (source->resampler)
        own *= (long double)source->rate_hz / (long double)source->desc.resample_hz;
    return penstock__capture_time(capture, source->rate_hz, (double)(own - (long double)capture->sample), time_ns);
}

void penstock__source_capture(const penstock_source *source, size_t index, penstock_source_capture *capture)
{
    const struct penstock__capture *own = &source->captures.items[index];
    const struct penstock__capture none = {0}, *before = index ? own - 1 : &none;
    *capture = (penstock_source_capture){.size = sizeof *capture};
    capture->sample = given_from(source, own->sample);
    capture->position = capture->sample + span_given(source, own->lost);
    capture->lost = own->lost - before->lost;
    capture->lost_unknown = own->unknown > before->unknown;
    capture->frequency_hz = own->frequency_hz;
    capture->timed = penstock__source_time(source, index, (long double)capture->sample, &capture->time_ns);
}

/* ---------------------------------------------------------------- public calls ---------------- */

int penstock_source_get_capture(const penstock_source *source, uint64_t index, penstock_source_capture *capture)
{
    penstock_source_capture mine;
    int status;
    if (!source)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "source is NULL");
    const struct penstock__captures *captures = &source->captures;
    if (captures->forgotten && index <= captures->forgotten) /* of the oldest one it is not known what was lost */
        return penstock__error(PENSTOCK_ERR_STATE, "%s: capture %llu is forgotten, the oldest known is %zu",
                               source->description, (unsigned long long)index, captures->forgotten + 1);
    if (index - captures->forgotten >= captures->count)
        return 0;
    penstock__source_capture(source, (size_t)index - captures->forgotten, &mine);
    status = penstock__description_write(capture, &mine, sizeof mine, "penstock_source_capture");
    return status ? status : 1;
}

int penstock_source_get_position(const penstock_source *source, uint64_t sample, uint64_t *position)
{
    if (!source || !position)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "source or position is NULL");
    const struct penstock__capture *capture = &source->captures.items[find_given(source, sample)];
    if (source->captures.forgotten && sample < given_from(source, capture->sample))
        return penstock__error(PENSTOCK_ERR_STATE, "%s: the gaps before sample %llu are forgotten", source->description,
                               (unsigned long long)sample);
    *position = sample + span_given(source, capture->lost);
    return PENSTOCK_OK;
}
