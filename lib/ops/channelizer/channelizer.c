/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The filter bank as a stream: its life. */
#include "core/base/description.h"
#include "core/stream/latency.h"
#include "ops/channelizer/channelizer_check.h"
#include "ops/channelizer/channelizer_stream.h"

#include <math.h>
#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "channelizer: " __VA_ARGS__)

/* ---------------------------------------------------------------- life ------------------------ */

static int check(penstock_channelizer_desc *desc)
{
    int status;
    if ((status = penstock__channels_check(desc->channels, &desc->hop)) ||
        (status = penstock__prototype_check(desc->taps, &desc->tap_count, desc->channels, desc->hop)) ||
        (status = penstock__selection_check(desc->select, desc->select_count, desc->channels)))
        return status;
    if (!penstock_format_bytes(desc->format))
        return bad("format %d is no sample format", (int)desc->format);
    if (desc->advance >= desc->tap_count)
        return bad("advance is %zu, not 0 .. %zu (tap_count - 1)", desc->advance, desc->tap_count - 1);
    if (desc->origin >= desc->channels)
        return bad("origin is %zu, not 0 .. %zu (channels - 1)", desc->origin, desc->channels - 1);
    if (!(desc->max_latency_s >= 0))
        return bad("max_latency_s is %g, not 0 or more", desc->max_latency_s);
    return PENSTOCK_OK;
}

/* The first window begins with what is before the stream. */
static void rewind_stream(struct channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    channelizer->start = channelizer->widest - bank->window;
    channelizer->end = channelizer->widest - 1 - bank->advance;
    memset(channelizer->in, 0, channelizer->end * penstock__channelizer_engine_sample(&channelizer->engine));
    channelizer->folded = channelizer->total = channelizer->cpu_while_compiling = channelizer->flush_to = 0;
    channelizer->since = 0;
    penstock__rest_free(&channelizer->rest);
    penstock__stream_start(&channelizer->stream);
}

int penstock_channelizer_open(penstock_stream **stream, penstock_context *context,
                              const penstock_channelizer_desc *desc, const char *device)
{
    penstock_channelizer_desc d;
    struct channelizer *made;
    int status;
    if (!stream || !context)
        return bad("penstock_channelizer_open: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_channelizer_desc")) || (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    made->engine.context = context;
    made->stream = (struct penstock_stream){.kind = &penstock__channelizer_kind,
                                            .context = context,
                                            .in_bytes = penstock_format_bytes(d.format),
                                            .in_values = 1 + (unsigned)d.format,
                                            .out_values = 1 + PENSTOCK_CF32};
    if ((status = penstock__channelizer_bank(&made->engine.bank, &d, d.taps, d.tap_count)) ||
        (status = penstock__channelizer_select(made, d.select, d.select_count)) ||
        (status = penstock__channelizer_make_engine(made, device)) ||
        (status = penstock__channelizer_relocate(made, &made->engine, made->engine.bank.window))) {
        penstock__stream_free(&made->stream);
        return status;
    }
    made->desc.taps = NULL;
    made->desc.select = NULL;
    rewind_stream(made);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void cancel(penstock_stream *stream)
{
    penstock__async_build_cancel(channelizer_of(stream)->build);
}

static void free_stream(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    penstock__async_build_free(channelizer->build);
    penstock__channelizer_drop_changes(channelizer);
    penstock__channelizer_engine_free(&channelizer->engine);
    penstock__channel_bank_free(&channelizer->engine.bank);
    penstock__rest_free(&channelizer->rest);
    penstock__free(channelizer->select);
    penstock_host_memory_free(stream->context, channelizer->in);
    penstock__channel_bank_free(&channelizer->order.bank);
    penstock__free(channelizer);
}

static void reset(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    penstock__channelizer_engine_reset(&channelizer->engine);
    penstock__channelizer_settle(channelizer);
    rewind_stream(channelizer);
}

int penstock_channelizer_get_info(const penstock_stream *stream, penstock_channelizer_info *info)
{
    penstock_channelizer_info known = PENSTOCK_CHANNELIZER_INFO;
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    int status = penstock__stream_is(stream, &penstock__channelizer_kind, "penstock_channelizer_get_info");
    if (status)
        return status;
    const struct channelizer *channelizer = const_channelizer_of(stream);
    const struct channelizer_engine *engine = &channelizer->engine;
    if ((status = penstock_plan_get_info(engine->plans[0], &plan)))
        return status;
    known.device = plan.device;
    known.kept = engine->kept;
    known.hop = channelizer->desc.hop;
    known.tap_count = channelizer->desc.tap_count;
    known.batch = engine->capacity ? engine->capacity : 1;
    known.latency = (known.batch - 1) * known.hop;
    known.delay = (double)(known.tap_count - 1) / 2 - (double)channelizer->desc.advance;
    known.samples = channelizer->stream.taken;
    known.frames = channelizer->stream.given;
    known.fallbacks = engine->fallbacks + penstock__plan_fallbacks(engine->plans[0]);
    return penstock__description_write(info, &known, sizeof known, "penstock_channelizer_info");
}

/* ---------------------------------------------------------------- what is known --------------- */

static double due_s(const penstock_stream *stream)
{
    const struct channelizer *channelizer = const_channelizer_of(stream);
    const struct penstock__ring *ring = &channelizer->engine.ring;
    if (!channelizer->engine.capacity)
        return penstock__channelizer_full_windows(channelizer) ? 0 : (double)INFINITY;
    if (ring->batches[ring->oldest].state > PENSTOCK__RING_FILLING)
        return penstock__ring_due_s(ring, channelizer->engine.max_latency_s);
    return penstock__latency_left_s(channelizer->since, channelizer->engine.max_latency_s);
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    const struct channelizer_engine *engine = &const_channelizer_of(stream)->engine;
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    penstock_plan_get_info(engine->plans[0], &plan);
    info->device = plan.device;
    info->batch = engine->capacity ? engine->capacity : 1;
}

/* ---------------------------------------------------------------- the kind -------------------- */

const struct penstock__stream_kind penstock__channelizer_kind = {
    .name = "channelizer",
    .push = penstock__channelizer_push,
    .pull = penstock__channelizer_pull,
    .run = penstock__channelizer_run,
    .acquire = penstock__channelizer_acquire,
    .commit = penstock__channelizer_commit,
    .peek = penstock__channelizer_peek,
    .release = penstock__channelizer_release,
    .flush = penstock__channelizer_flush,
    .finish = penstock__channelizer_finish,
    .reset = reset,
    .cancel = cancel,
    .free = free_stream,
    .set_max_latency = penstock__channelizer_set_max_latency,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = penstock__channelizer_get_stats,
    .device_source = &penstock__channelizer_device_source,
    .device_work = penstock__channelizer_device_work,
};
