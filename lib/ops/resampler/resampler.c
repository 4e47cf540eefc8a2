/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The resampler as a stream. */
#include "core/base/description.h"
#include "core/device/devices.h"
#include "core/stream/stream.h"
#include "ops/resampler/resampler_queue.h"

#include <math.h>
#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "resampler: " __VA_ARGS__)

struct resampler_stream {
    struct penstock_stream stream;
    penstock_resampler_desc desc; /* defaults filled in; pointers are not kept */
    struct resampler resampler;
    struct resampler_queue *queue; /* to a device; NULL: the processor */
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

/* On a device that was asked for. PENSTOCK_OK without a queue where it was preferred and cannot: a log line tells. */
static int open_queue(struct resampler_stream *self, const struct resampler_order *order, const char *name,
                      bool preferred)
{
    struct resampler_order apart = *order;
    struct penstock_device *device;
    int status;
    apart.apart = true;
    if (!(self->queue = penstock__calloc(1, sizeof *self->queue)))
        return PENSTOCK_ERR_MEMORY;
    if (!(status = penstock__device_find(self->stream.context, name, &device)) &&
        !(status = penstock__device_open(device)) &&
        !(status = penstock__resampler_init(&self->resampler, self->stream.context, &apart)))
        status = penstock__resampler_queue_init(self->queue, &self->resampler, &self->stream.meter, device, preferred,
                                                order->desc.min_ratio);
    self->queue->max_latency_s = order->desc.max_latency_s;
    if (!status)
        return PENSTOCK_OK;
    penstock__resampler_queue_free(self->queue);
    penstock__free(self->queue);
    self->queue = NULL;
    penstock__resampler_clear(&self->resampler);
    self->resampler = (struct resampler){0};
    if (!preferred || status == PENSTOCK_ERR_ARGUMENT)
        return status;
    penstock__log(self->stream.context, PENSTOCK_LOG_WARNING, "%s is preferred, the CPU is used: %s", name,
                  penstock_error_text());
    return PENSTOCK_OK;
}

/* The processor is the resampler alone, which needs no batches. */
static int open_on(struct resampler_stream *self, const struct resampler_order *order, const char *text)
{
    enum penstock_preference preference;
    const char *name;
    int status = penstock__device_parse(&preference, &name, text);
    if (!status && preference != PENSTOCK_DEVICE_AUTO && strcmp(name, "cpu"))
        status = open_queue(self, order, name, preference == PENSTOCK_DEVICE_PREFERRED);
    if (!status && !self->queue)
        status = penstock__resampler_init(&self->resampler, self->stream.context, order);
    return status;
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
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->stream.kind = &kind;
    made->stream.context = context;
    if ((status = open_on(made, &order, device))) {
        penstock__stream_free(&made->stream);
        return status;
    }
    made->desc = order.desc;
    made->desc.taps = NULL;
    made->desc.real_taps = NULL;
    made->stream.in_bytes = penstock_format_bytes(order.desc.format);
    made->stream.out_bytes = made->resampler.value_bytes;
    made->stream.in_values = 1 + (unsigned)order.desc.format;
    made->stream.lends_in = made->stream.lends_out = made->queue != NULL;
    made->stream.out_values = 1 + (made->resampler.value_bytes == sizeof(float) ? PENSTOCK_F32 : PENSTOCK_CF32);
    penstock__stream_start(&made->stream);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void free_stream(penstock_stream *stream)
{
    struct resampler_stream *self = of(stream);
    if (self->queue)
        penstock__resampler_queue_free(self->queue);
    penstock__free(self->queue);
    penstock__resampler_clear(&self->resampler);
    penstock__free(stream);
}

static void reset(penstock_stream *stream)
{
    if (of(stream)->queue)
        penstock__resampler_queue_reset(of(stream)->queue);
    else
        penstock__resampler_rewind(&of(stream)->resampler);
}

/* ---------------------------------------------------------------- in and out ------------------ */

/* As far as there is room. */
static int push_queue(struct resampler_stream *self, const char *in, size_t count, size_t *taken)
{
    const size_t bytes = self->stream.in_bytes;
    size_t room = 1;
    void *to;
    int status = PENSTOCK_OK;
    while (!status && room && *taken < count) {
        if ((status = penstock__resampler_queue_room(self->queue, &to, &room)))
            return status;
        room = room < count - *taken ? room : count - *taken;
        penstock__copy(self->stream.context, to, in + *taken * bytes, room * bytes);
        *taken += room;
        status = penstock__resampler_queue_commit(self->queue, room);
    }
    return status;
}

static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    if (of(stream)->queue)
        return push_queue(of(stream), in->whole, count, taken);
    *taken = penstock__resampler_take(&of(stream)->resampler, in->whole, count);
    return PENSTOCK_OK;
}

static int acquire(penstock_stream *stream, void **to, size_t *room)
{
    return penstock__resampler_queue_room(of(stream)->queue, to, room);
}

static int commit(penstock_stream *stream, size_t count)
{
    return penstock__resampler_queue_commit(of(stream)->queue, count);
}

/* The next output, and what it is made with. */
static struct resampler_batch next_output(const struct resampler_stream *self, size_t further)
{
    const struct resampler *resampler = &self->resampler;
    if (self->queue)
        return penstock__resampler_queue_next(self->queue, further);
    return (struct resampler_batch){.arms = resampler->arms,
                                    .ratio = resampler->ratio,
                                    .clock = resampler->clock,
                                    .part = resampler->part,
                                    .sample = penstock__resampler_sample(resampler)};
}

/* Samples that had to be in for an output. */
static uint64_t needed(const struct resampler_batch *output)
{
    return output->sample + penstock__resampler_ahead(output->arms) + 1;
}

/* `count` outputs, the first once `first` samples were in and the last once `last` were. */
static void gave(penstock_stream *stream, size_t count, uint64_t first, uint64_t last, uint64_t step)
{
    if (count > 1)
        penstock__stream_gave(stream, count - 1, first, step);
    if (count)
        penstock__stream_gave(stream, 1, last > first ? last : first, 0);
}

static int peek(penstock_stream *stream, bool wait, const void **from, size_t *count)
{
    return penstock__resampler_queue_ready(of(stream)->queue, wait, from, count);
}

static void release(penstock_stream *stream, size_t count)
{
    struct resampler_stream *self = of(stream);
    const struct resampler_batch first = next_output(self, 0), last = next_output(self, count - 1);
    gave(stream, count, needed(&first), needed(&last), first.clock.whole);
    penstock__resampler_queue_release(self->queue, count);
}

static int pull_queue(penstock_stream *stream, char *to, size_t capacity, bool wait, size_t *count)
{
    const size_t bytes = stream->out_bytes;
    const void *from;
    size_t some = 1;
    int status = PENSTOCK_OK;
    while (*count < capacity && some) {
        if ((status = peek(stream, wait, &from, &some)))
            break;
        some = some < capacity - *count ? some : capacity - *count;
        penstock__copy(stream->context, to + *count * bytes, from, some * bytes);
        if (some)
            release(stream, some);
        *count += some;
    }
    return *count ? PENSTOCK_OK : status; /* it comes again */
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    struct resampler_stream *self = of(stream);
    if (self->queue)
        return pull_queue(stream, out->whole, capacity, wait, count);
    const struct resampler_batch output = next_output(self, 0);
    const uint64_t first = needed(&output); /* its arms go with another ratio */
    const double began = penstock__now_s();
    *count = penstock__resampler_make(&self->resampler, out->whole, capacity);
    if (*count)
        penstock__meter_batch(&stream->meter, *count, penstock__now_s() - began);
    const struct resampler_batch next = next_output(self, 0);
    gave(stream, *count, first, needed(&next) - next.clock.whole - 1, next.clock.whole);
    return PENSTOCK_OK;
}

static int flush(penstock_stream *stream)
{
    return of(stream)->queue ? penstock__resampler_queue_flush(of(stream)->queue) : PENSTOCK_OK;
}

static int finish(penstock_stream *stream)
{
    if (!stream->finished)
        penstock__resampler_end(&of(stream)->resampler);
    stream->finished = true;
    return PENSTOCK_OK;
}

static int set_max_latency(penstock_stream *stream, double max_latency_s)
{
    if (of(stream)->queue)
        of(stream)->queue->max_latency_s = max_latency_s;
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
    const struct resampler_batch next = next_output(of_const(stream), 0);
    known.interpolation = next.ratio.up;
    known.decimation = next.ratio.down;
    known.taps = next.arms->taps;
    known.arms = next.arms->count;
    known.exact = next.arms->count == next.clock.unit;
    known.latency = penstock__resampler_ahead(next.arms);
    known.next = (double)next.sample + (double)next.part / (double)next.clock.unit;
    return penstock__description_write(info, &known, sizeof known, "penstock_resampler_info");
}

static double due_s(const penstock_stream *stream)
{
    const struct resampler_stream *self = of_const(stream);
    if (self->queue)
        return penstock__resampler_queue_due_s(self->queue);
    return penstock__resampler_ready(&self->resampler) ? 0 : (double)INFINITY;
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    const struct resampler_stream *self = of_const(stream);
    info->device = self->queue ? penstock__resampler_queue_device(self->queue) : "cpu";
}

static void get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct resampler_stream *self = of_const(stream);
    stats->fallbacks = self->queue ? self->queue->fallbacks : 0;
    stats->drops = stats->cpu_while_compiling = 0;
}

static const struct penstock__stream_kind kind = {
    .name = "resampler",
    .push = push,
    .pull = pull,
    .acquire = acquire,
    .commit = commit,
    .peek = peek,
    .release = release,
    .flush = flush,
    .finish = finish,
    .reset = reset,
    .free = free_stream,
    .set_max_latency = set_max_latency,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = get_stats,
};
