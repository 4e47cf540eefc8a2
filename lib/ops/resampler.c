/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The resampler as a stream. */
#include "core/description.h"
#include "core/devices.h"
#include "core/stream.h"
#include "ops/resampler_engine.h"

#include <math.h>
#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "resampler: " __VA_ARGS__)

struct resampler_stream {
    struct penstock_stream stream;
    penstock_resampler_desc desc; /* defaults filled in; pointers are not kept */
    struct resampler resampler;
};

static const struct penstock__stream_kind kind;

static struct resampler_stream *of(penstock_stream *stream)
{
    return (struct resampler_stream *)(void *)stream;
}

static const struct resampler_stream *of_const(const penstock_stream *stream)
{
    return (const struct resampler_stream *)(const void *)stream;
}

/* ---------------------------------------------------------------- life ------------------------ */

/* The processor; another device by its name is an error. */
static int check_device(penstock_context *context, const char *text)
{
    enum penstock_preference preference;
    struct penstock_device *device;
    const char *name;
    int status = penstock__device_parse(&preference, &name, text);
    if (status)
        return status;
    if (preference == PENSTOCK_DEVICE_NAMED) {
        if ((status = penstock__device_find(context, name, &device)))
            return status;
        if (strcmp(device->name, "cpu"))
            return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "resampler: '%s' does not resample, only the cpu does",
                                   device->name);
    } else if (preference == PENSTOCK_DEVICE_PREFERRED && strcmp(name, "cpu")) {
        if (!penstock__device_find(context, name, &device))
            penstock__error(PENSTOCK_ERR_UNSUPPORTED, "resampler: '%s' does not resample", device->name);
        penstock__log(context, PENSTOCK_LOG_WARNING, "%s is preferred, the CPU is used: %s", name,
                      penstock_error_text());
    }
    return PENSTOCK_OK;
}

int penstock_resampler_open(penstock_stream **stream, penstock_context *context, const penstock_resampler_desc *desc,
                            const char *device)
{
    struct resampler_order order;
    penstock_resampler_desc known;
    struct resampler_stream *made;
    int status;
    if (!stream || !context)
        return bad("penstock_resampler_open: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&known, sizeof known, desc, "penstock_resampler_desc")) ||
        (status = penstock__resampler_check(&order, &known)))
        return status;
    if ((status = check_device(context, device)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->stream.kind = &kind;
    made->stream.context = context;
    if ((status = penstock__resampler_init(&made->resampler, context, &order))) {
        penstock_stream_free(&made->stream);
        return status;
    }
    made->desc = order.desc;
    made->desc.taps = NULL;
    made->desc.real_taps = NULL;
    made->stream.in_bytes = penstock_format_bytes(order.desc.format);
    made->stream.out_bytes = made->resampler.value_bytes;
    made->stream.in_values = 1 + (unsigned)order.desc.format;
    made->stream.out_values = 1 + (made->resampler.value_bytes == sizeof(float) ? PENSTOCK_F32 : PENSTOCK_CF32);
    penstock__stream_start(&made->stream);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void free_stream(penstock_stream *stream)
{
    penstock__resampler_clear(&of(stream)->resampler);
    penstock__free(stream);
}

static void reset(penstock_stream *stream)
{
    penstock__resampler_rewind(&of(stream)->resampler);
}

/* ---------------------------------------------------------------- in and out ------------------ */

static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    *taken = penstock__resampler_take(&of(stream)->resampler, in->whole, count);
    return PENSTOCK_OK;
}

/* Samples that had to be in for the next output, and for the last one. */
static uint64_t needed(const struct resampler *resampler, uint64_t sample)
{
    return sample + penstock__resampler_ahead(resampler->arms) + 1;
}

static void gave(struct resampler_stream *self, size_t count, uint64_t first)
{
    const struct resampler *resampler = &self->resampler;
    const uint64_t end = needed(resampler, penstock__resampler_sample(resampler)) - resampler->clock.whole - 1;
    if (count > 1)
        penstock__stream_gave(&self->stream, count - 1, first, resampler->clock.whole);
    if (count)
        penstock__stream_gave(&self->stream, 1, end > first ? end : first, 0);
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    struct resampler_stream *self = of(stream);
    const uint64_t first = needed(&self->resampler, penstock__resampler_sample(&self->resampler));
    const double began = penstock__now_s();
    (void)wait;
    *count = penstock__resampler_make(&self->resampler, out->whole, capacity);
    if (*count)
        penstock__meter_batch(&stream->meter, *count, penstock__now_s() - began);
    gave(self, *count, first);
    return PENSTOCK_OK;
}

static int finish(penstock_stream *stream)
{
    if (!stream->finished)
        penstock__resampler_end(&of(stream)->resampler);
    stream->finished = true;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- changes --------------------- */

static int check_change(const penstock_stream *stream, const char *call, uint64_t at)
{
    int status = penstock__stream_is(stream, &kind, call);
    if (status || (status = penstock__stream_goes_on(stream)))
        return status;
    const struct resampler_change *change = of_const(stream)->resampler.changes;
    uint64_t least = stream->taken;
    for (; change; change = change->next)
        least = change->at > least ? change->at : least;
    if (at < least)
        return bad("%s: sample %llu lies before %llu, which were pushed or have another change", call,
                   (unsigned long long)at, (unsigned long long)least);
    return PENSTOCK_OK;
}

int penstock_resampler_set_ratio(penstock_stream *stream, double ratio, uint64_t at)
{
    int status = check_change(stream, __func__, at);
    if (status)
        return status;
    struct resampler_stream *self = of(stream);
    struct resampler *resampler = &self->resampler;
    const bool own = resampler->prototype.values != NULL;
    const double least = own ? self->desc.min_ratio : 1.0 / 1024;
    if (!(ratio >= least && ratio <= 1024))
        return bad("a ratio of %g is not %g .. 1024", ratio, least);
    const struct resampler_ratio wanted = penstock__resampler_ratio(ratio);
    const struct resampler_ratio last = penstock__resampler_last_ratio(resampler);
    struct resampler_arms *arms = penstock__resampler_last_arms(resampler);
    if (wanted.up == last.up && wanted.down == last.down)
        return PENSTOCK_OK;
    if (!own ||
        (ratio >= 1 && last.up >= last.down && arms->count == penstock__resampler_enough(&resampler->prototype)))
        penstock__resampler_arms_keep(arms);
    else if ((status = penstock__resampler_arms_make(&arms, &resampler->prototype, wanted, true, resampler->real)))
        return status;
    return penstock__resampler_change(resampler, wanted, arms, at);
}

int penstock_resampler_set_taps(penstock_stream *stream, const penstock_cf32 *taps, const float *real_taps,
                                size_t tap_count, uint64_t at)
{
    struct resampler_arms *arms;
    int status = check_change(stream, __func__, at);
    if (status)
        return status;
    struct resampler_stream *self = of(stream);
    struct resampler *resampler = &self->resampler;
    const struct resampler_arms *last = penstock__resampler_last_arms(resampler);
    if (resampler->prototype.values)
        return bad("%s: the stream was opened without taps", __func__);
    if (!taps == !real_taps || last->complex != (taps != NULL))
        return bad("%s: exactly one of taps and real_taps, as the stream was opened with", __func__);
    if (!tap_count || tap_count > self->desc.max_taps)
        return bad("%s: %zu taps, not 1 .. %zu (max_taps)", __func__, tap_count, self->desc.max_taps);
    if ((status = penstock__resampler_arms_take(&arms, real_taps, taps, tap_count, self->desc.arms, resampler->real)))
        return status;
    if (!penstock__resampler_arms_same(arms, last))
        return penstock__resampler_change(resampler, penstock__resampler_last_ratio(resampler), arms, at);
    penstock__resampler_arms_leave(arms);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- what is known --------------- */

int penstock_resampler_get_info(const penstock_stream *stream, penstock_resampler_info *info)
{
    penstock_resampler_info known = PENSTOCK_RESAMPLER_INFO;
    int status = penstock__stream_is(stream, &kind, __func__);
    if (status)
        return status;
    const struct resampler *resampler = &of_const(stream)->resampler;
    known.interpolation = resampler->ratio.up;
    known.decimation = resampler->ratio.down;
    known.taps = resampler->arms->taps;
    known.arms = resampler->arms->count;
    known.exact = resampler->arms->count == resampler->clock.unit;
    known.latency = penstock__resampler_ahead(resampler->arms);
    known.next =
        (double)penstock__resampler_sample(resampler) + (double)resampler->part / (double)resampler->clock.unit;
    return penstock__description_write(info, &known, sizeof known, "penstock_resampler_info");
}

static double due_s(const penstock_stream *stream)
{
    return penstock__resampler_ready(&of_const(stream)->resampler) ? 0 : (double)INFINITY;
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    (void)stream;
    info->device = "cpu";
}

static void get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    (void)stream;
    stats->fallbacks = stats->drops = stats->cpu_while_compiling = 0;
}

static const struct penstock__stream_kind kind = {
    .name = "resampler",
    .push = push,
    .pull = pull,
    .finish = finish,
    .reset = reset,
    .free = free_stream,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = get_stats,
};
