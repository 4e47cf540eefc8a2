/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What SigMF metadata of a sink's samples says: https://sigmf.org, version 1.2. jansson's functions take NULL from each
 * other, and tell of a failure by their result. */
#include "radio/sigmf_describe.h"
#include "ops/resampler/resampler_engine.h"
#include "radio/sigmf.h"
#include "radio/sigmf_time.h"
#include "radio/source_kind.h"

#include <inttypes.h>
#include <stdio.h>

static bool set(json_t *object, const char *key, json_t *value)
{
    return !json_object_set_new(object, key, value);
}

static json_t *whole(uint64_t number)
{
    return json_integer(number < INT64_MAX ? (json_int_t)number : INT64_MAX);
}

/* ---------------------------------------------------------------- captures -------------------- */

struct captures {
    const struct penstock_sink *sink;
    const penstock_source *source;
    struct resampler_ratio ratio; /* of the sink's samples to the source's */
    uint64_t first_index;
    bool indexed; /* the original stream's count is worth telling: it does not begin here, or has gaps */
};

/* The first sample of the sink whose own lies in the capture, or behind it. */
static uint64_t start_of(const struct captures *all, const penstock_source_capture *capture)
{
    return penstock__resampler_scaled(all->ratio, capture->sample);
}

/* core:global_index of the sink's sample number `start`, to the nearest whole number. */
static uint64_t index_of(const struct captures *all, const penstock_source_capture *capture, uint64_t start)
{
    uint64_t lost = capture->position - capture->sample;
    return start + penstock__resampler_nearest(all->ratio, all->first_index + lost);
}

static bool set_time(const struct captures *all, json_t *object, size_t i, uint64_t start)
{
    char text[PENSTOCK__SIGMF_TIME_BYTES];
    int64_t time_ns;
    long double sample = (long double)start * (long double)all->ratio.down / (long double)all->ratio.up;
    if (!penstock__source_time(all->source, i, sample, &time_ns))
        return true;
    penstock__sigmf_time_text(text, time_ns);
    return set(object, "core:datetime", json_string(text));
}

static bool set_frequency(const struct captures *all, json_t *object, const penstock_source_capture *capture)
{
    const double source_hz = all->source->frequency_hz;
    double frequency_hz = all->sink->desc.frequency_hz;
    if (frequency_hz > 0.0 && source_hz > 0.0)
        frequency_hz = capture->frequency_hz > 0.0 ? frequency_hz + capture->frequency_hz - source_hz : 0.0;
    return !(frequency_hz > 0.0) || set(object, "core:frequency", json_real(frequency_hz));
}

static json_t *describe_capture(const struct captures *all, size_t i, uint64_t start, bool unknown)
{
    penstock_source_capture capture;
    json_t *object = json_object();
    penstock__source_capture(all->source, i, &capture);
    bool good = set(object, "core:sample_start", whole(start));
    if (good && all->indexed && !unknown)
        good = set(object, "core:global_index", whole(index_of(all, &capture, start)));
    if (good && set_time(all, object, i, start) && set_frequency(all, object, &capture))
        return object;
    json_decref(object);
    return NULL;
}

/* What was lost before the sink's sample `start`, for people who look at the recording. */
static json_t *describe_loss(uint64_t start, uint64_t lost, bool unknown)
{
    char text[96];
    if (unknown)
        snprintf(text, sizeof text, "a number of samples that nobody knows was lost before this one");
    else
        snprintf(text, sizeof text, "%" PRIu64 " samples of the source were lost before this one", lost);
    return json_pack("{s:o, s:i, s:s, s:s}", "core:sample_start", whole(start), "core:sample_count", 1, "core:label",
                     "samples lost", "core:comment", text);
}

/* Captures that begin at the same sample of the sink, and come one after the other, are one: the last of them, with all
 * that was lost. */
static bool add_captures(const struct captures *all, json_t *captures, json_t *annotations)
{
    const struct penstock__captures *known = &all->source->captures;
    uint64_t lost = 0;
    bool unknown = false, good = true;
    for (size_t i = 0; i < known->count && good; i++) {
        penstock_source_capture capture, next = {0};
        bool last = i + 1 == known->count;
        penstock__source_capture(all->source, i, &capture);
        if (!last)
            penstock__source_capture(all->source, i + 1, &next);
        uint64_t start = start_of(all, &capture);
        if (i && start >= all->sink->samples)
            break;
        lost += capture.lost;
        unknown = unknown || capture.lost_unknown;
        if (!last && start_of(all, &next) == start)
            continue;
        good = !json_array_append_new(captures, describe_capture(all, i, start, unknown)) &&
               (!(lost || unknown) || !json_array_append_new(annotations, describe_loss(start, lost, unknown)));
        lost = 0;
        unknown = false;
    }
    return good;
}

/* ---------------------------------------------------------------- all ------------------------- */

static json_t *describe_global(const struct penstock_sink *sink)
{
    const penstock_sink_desc *desc = &sink->desc;
    json_t *global = json_pack("{s:s, s:s, s:f, s:i, s:s}", "core:version", "1.2.0", "core:datatype",
                               penstock__sigmf_datatype(desc->format), "core:sample_rate", desc->rate_hz,
                               "core:num_channels", 1, "core:recorder", "Penstock");
    bool good = global != NULL;
    if (good && desc->description)
        good = set(global, "core:description", json_string(desc->description));
    if (good && desc->source && desc->source->hardware[0])
        good = set(global, "core:hw", json_string(desc->source->hardware));
    if (good)
        return global;
    json_decref(global);
    return NULL;
}

static bool describe_captures(const struct penstock_sink *sink, json_t *captures, json_t *annotations)
{
    struct penstock__capture nothing = {0};
    const struct penstock_source silent = {.rate_hz = 1, .captures = {.items = &nothing, .count = 1}};
    struct captures all = {.sink = sink,
                           .source = sink->desc.source ? sink->desc.source : &silent,
                           .ratio = penstock__resampler_reduced(sink->desc.interpolation, sink->desc.decimation)};
    const struct penstock__captures *known = &all.source->captures;
    const struct penstock__capture *end = &known->items[known->count - 1];
    all.first_index = penstock__source_first_index(all.source);
    all.indexed = all.source->indexed || end->lost || end->unknown;
    return add_captures(&all, captures, annotations);
}

json_t *penstock__sigmf_describe(const struct penstock_sink *sink)
{
    json_t *global = describe_global(sink), *captures = json_array(), *annotations = json_array();
    if (global && captures && annotations && describe_captures(sink, captures, annotations))
        return json_pack("{s:o, s:o, s:o}", "global", global, "captures", captures, "annotations", annotations);
    json_decref(global);
    json_decref(captures);
    json_decref(annotations);
    return NULL;
}
