/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The analysis bank while it runs: other taps and channels, latency, stats. */
#include "core/stream/link.h"
#include "ops/channelizer/channelizer_check.h"
#include "ops/channelizer/channelizer_stream.h"

#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "channelizer: " __VA_ARGS__)

/* ---------------------------------------------------------------- other taps ------------------ */

int penstock_channelizer_set_taps(penstock_stream *stream, const float *taps, size_t tap_count, uint64_t at,
                                  uint64_t *from)
{
    struct channelizer_change *change, **last;
    int status = penstock__stream_is(stream, &penstock__channelizer_kind, "penstock_channelizer_set_taps");
    if (status)
        return status;
    struct channelizer *channelizer = channelizer_of(stream);
    const penstock_channelizer_desc *d = &channelizer->desc;
    penstock__link_settle(stream); /* whose samples may move */
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
        penstock__channelizer_change_free(change);
        return status;
    }
    change->frame = penstock__channelizer_change_frame(channelizer, &change->bank, at);
    for (last = &channelizer->changes; *last;)
        last = &(*last)->next;
    *last = change;
    if (from)
        *from = change->frame * d->hop + d->advance;
    channelizer->desc.tap_count = tap_count;
    penstock__channelizer_leave(channelizer, 0);
    penstock__channelizer_offer(channelizer, false); /* frames up to it, which no more join */
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
    if (status)
        return status;
    penstock__link_settle(stream);
    return penstock__channelizer_select(channelizer_of(stream), select, select_count);
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
