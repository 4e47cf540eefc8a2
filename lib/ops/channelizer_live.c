/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The analysis bank while it runs: other taps and channels, latency, stats. */
#include "ops/channelizer_check.h"
#include "ops/channelizer_stream.h"

#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "channelizer: " __VA_ARGS__)

/* ---------------------------------------------------------------- other taps ------------------ */

/* Place in the stream of the first sample of a frame's window; below zero before it. */
static int64_t window_at(const struct channel_bank *bank, uint64_t frame)
{
    return (int64_t)(frame * bank->hop + bank->advance + 1) - (int64_t)bank->window;
}

/* Place in the stream of the first value of `in`. */
static int64_t memory_at(const struct channelizer *channelizer)
{
    return window_at(&channelizer->engine.bank, channelizer->folded) - (int64_t)channelizer->start;
}

size_t penstock__channelizer_oldest(const struct channelizer *channelizer)
{
    int64_t now = window_at(&channelizer->engine.bank, channelizer->folded), first = now;
    for (const struct channelizer_change *change = channelizer->changes; change; change = change->next)
        if (window_at(&change->bank, change->frame) < first)
            first = window_at(&change->bank, change->frame);
    return channelizer->start - (size_t)(now - first);
}

static void adopt(struct channelizer *channelizer)
{
    struct channelizer_change *change = channelizer->changes;
    struct channel_bank *bank = &channelizer->engine.bank;
    channelizer->start += bank->window;
    channelizer->start -= change->bank.window;
    if (change->plan)
        penstock__channelizer_engine_set_plan(&channelizer->engine, change->plan);
    penstock__channel_bank_free(bank);
    *bank = change->bank;
    channelizer->order.stale = true;
    channelizer->changes = change->next;
    penstock__free(change);
}

void penstock__channelizer_leave(struct channelizer *channelizer, size_t frames)
{
    channelizer->start += frames * channelizer->desc.hop;
    channelizer->folded += frames;
    while (channelizer->changes && channelizer->changes->frame <= channelizer->folded)
        adopt(channelizer);
}

void penstock__channelizer_settle(struct channelizer *channelizer)
{
    while (channelizer->changes)
        adopt(channelizer); /* `start` is to be set anew */
}

bool penstock__channelizer_is_whole(const struct channelizer *channelizer)
{
    return memory_at(channelizer) <= 0;
}

static void free_change(struct channelizer_change *change)
{
    penstock_plan_free(change->plan);
    penstock__channel_bank_free(&change->bank);
    penstock__free(change);
}

void penstock__channelizer_drop_changes(struct channelizer *channelizer)
{
    while (channelizer->changes) {
        struct channelizer_change *change = channelizer->changes;
        channelizer->changes = change->next;
        free_change(change);
    }
}

/* The first frame from sample `at` on, after what was pushed and after the changes before. */
static uint64_t first_frame(const struct channelizer *channelizer, uint64_t at)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    at = at > channelizer->stream.taken ? at : channelizer->stream.taken;
    uint64_t frame = at > bank->advance ? (at - bank->advance + bank->hop - 1) / bank->hop : 0;
    for (const struct channelizer_change *change = channelizer->changes; change; change = change->next)
        frame = change->frame > frame ? change->frame : frame;
    return frame > channelizer->folded ? frame : channelizer->folded;
}

/* The first one from `frame` on whose window is still there. */
static uint64_t possible_frame(const struct channelizer *channelizer, const struct channel_bank *bank, uint64_t frame)
{
    int64_t lacks = memory_at(channelizer) - window_at(bank, frame);
    return lacks > 0 ? frame + ((uint64_t)lacks + bank->hop - 1) / bank->hop : frame;
}

int penstock_channelizer_set_taps(penstock_stream *stream, const float *taps, size_t tap_count, uint64_t at,
                                  uint64_t *from)
{
    struct channelizer_change *change, **last;
    int status = penstock__stream_is(stream, &penstock__channelizer_kind, "penstock_channelizer_set_taps");
    if (status)
        return status;
    struct channelizer *channelizer = channelizer_of(stream);
    const penstock_channelizer_desc *d = &channelizer->desc;
    if ((status = penstock__prototype_check(taps, &tap_count, d->channels, d->hop)))
        return status;
    if (d->advance >= tap_count)
        return bad("%zu taps, not more than %zu (advance)", tap_count, d->advance);
    if (!(change = penstock__calloc(1, sizeof *change)))
        return PENSTOCK_ERR_MEMORY;
    if (!(status = penstock__channelizer_bank(&change->bank, d, taps, tap_count)))
        status = penstock__channelizer_engine_plan(&channelizer->engine, &change->bank, &change->plan);
    if (!status && change->bank.window > channelizer->widest)
        status = penstock__channelizer_relocate(channelizer, &channelizer->engine, change->bank.window);
    if (status) {
        free_change(change);
        return status;
    }
    change->frame = possible_frame(channelizer, &change->bank, first_frame(channelizer, at));
    for (last = &channelizer->changes; *last;)
        last = &(*last)->next;
    *last = change;
    if (from)
        *from = change->frame * d->hop + d->advance;
    channelizer->desc.tap_count = tap_count;
    penstock__channelizer_leave(channelizer, 0);
    penstock__channelizer_send(channelizer, false); /* frames up to it, which no more join */
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- other channels -------------- */

int penstock__channelizer_select(struct channelizer *channelizer, const size_t *select, size_t select_count)
{
    size_t *kept = NULL;
    int status;
    if ((status = penstock__selection_check(select, select_count, channelizer->desc.channels)))
        return status;
    if (select_count) {
        if (!(kept = penstock__alloc(select_count * sizeof *kept)))
            return PENSTOCK_ERR_MEMORY;
        memcpy(kept, select, select_count * sizeof *kept);
    }
    penstock__free(channelizer->select);
    channelizer->select = kept;
    channelizer->engine.select = kept;
    channelizer->engine.kept = select_count ? select_count : channelizer->desc.channels;
    channelizer->stream.out_channels = channelizer->engine.kept;
    channelizer->stream.out_bytes = channelizer->engine.kept * sizeof(penstock_cf32);
    channelizer->stream.lends_out = channelizer->engine.capacity && !kept;
    return PENSTOCK_OK;
}

int penstock_channelizer_set_select(penstock_stream *stream, const size_t *select, size_t select_count)
{
    int status = penstock__stream_is(stream, &penstock__channelizer_kind, "penstock_channelizer_set_select");
    return status ? status : penstock__channelizer_select(channelizer_of(stream), select, select_count);
}

/* ---------------------------------------------------------------- latency and stats ----------- */

int penstock__channelizer_set_max_latency(penstock_stream *stream, double max_latency_s)
{
    struct channelizer *channelizer = channelizer_of(stream);
    channelizer->desc.max_latency_s = channelizer->engine.max_latency_s = max_latency_s;
    return PENSTOCK_OK;
}

void penstock__channelizer_get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct channelizer *channelizer = const_channelizer_of(stream);
    stats->fallbacks = channelizer->engine.fallbacks + penstock__plan_fallbacks(channelizer->engine.plans[0]);
    stats->cpu_while_compiling = channelizer->cpu_while_compiling;
}
