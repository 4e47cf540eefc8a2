/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The life of a filter. */
#include "core/base/context.h"
#include "core/base/description.h"
#include "ops/filter/filter_check.h"
#include "ops/filter/filter_stream.h"

#include <math.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter: " __VA_ARGS__)

/* ---------------------------------------------------------------- life ------------------------ */

static int make_engine_of(struct filter_stream *filter, struct filter_shape *shape, const char *device)
{
    penstock_context *context = filter->stream.context;
    char text[64];
    size_t n = filter->desc.n;
    int status;
    if (!n) {
        if ((status = penstock__filter_choose(shape, text, context, filter->channels, device)))
            return status;
        device = text;
    } else if (!penstock__filter_shape_set(shape, n) && !penstock__filter_shape_partition(shape, n)) {
        return bad("transforms of %zu are too short for %zu taps and decimation %zu", n, shape->taps,
                   shape->decimation);
    }
    return penstock__filter_engine_new(&filter->engine, context, shape, filter->channels, device);
}

/* A device without real transforms does the same by complex ones. */
static int make_engine(struct filter_stream *filter, const char *device)
{
    struct filter_shape shape;
    penstock__filter_shape_of(&shape, &filter->desc);
    int status = make_engine_of(filter, &shape, device);
    if (status == PENSTOCK_ERR_UNSUPPORTED && shape.real) {
        shape.real = false;
        shape.real_values = true;
        shape.format = PENSTOCK_CF32;
        status = make_engine_of(filter, &shape, device);
    }
    if (status)
        return status;
    filter->shape = penstock__filter_engine_shape(filter->engine);
    penstock__filter_engine_set_event_times(filter->engine, &filter->stream.meter.event_times);
    return PENSTOCK_OK;
}

static int make_lines(struct filter_stream *filter)
{
    size_t count = penstock__filter_channels(&filter->desc);
    filter->lines = penstock__calloc(count, sizeof *filter->lines);
    filter->run = penstock__calloc(count, sizeof *filter->run);
    if (!filter->lines || !filter->run)
        return PENSTOCK_ERR_MEMORY;
    filter->channels = count;
    for (size_t c = 0; c < count; c++)
        filter->lines[c].phase =
            penstock__filter_turns(remainder(penstock__filter_channel_of(&filter->desc, c).phase, 1));
    return PENSTOCK_OK;
}

static int make_taps(struct filter_stream *filter)
{
    int status = PENSTOCK_OK;
    for (size_t c = 0; c < filter->channels && !status; c++) {
        struct filter_line *line = &filter->lines[c];
        penstock_filter_channel channel = penstock__filter_channel_of(&filter->desc, c);
        status = penstock__filter_set_new(&line->taps, filter, c, &channel,
                                          (struct filter_shift){channel.shift, line->phase});
        if (!status)
            line->taps->first = true;
        line->newest = line->taps;
    }
    return status;
}

/* The maker's, of a filter_order. */
static int make_filter(void **filter, void *owner, const char *device)
{
    const struct filter_order *order = owner;
    struct filter_stream *made = penstock__calloc(1, sizeof *made);
    int status;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->desc = order->desc;
    made->stream.kind = &penstock__filter_kind;
    made->stream.context = order->context;
    if ((status = make_lines(made)) || (status = make_engine(made, device)) || (status = make_taps(made)) ||
        (status = penstock__filter_buffers(made, 0)))
        goto fail;
    made->desc.taps = NULL;
    made->desc.real_taps = NULL;
    made->desc.channels = NULL;
    made->stream.in_bytes = penstock_format_bytes(made->desc.format);
    made->stream.out_bytes = made->channels * made->shape->value_bytes;
    made->stream.out_channels = made->channels;
    made->stream.in_values = 1 + (unsigned)made->desc.format;
    made->stream.out_values = 1 + (made->shape->value_bytes == sizeof(float) ? PENSTOCK_F32 : PENSTOCK_CF32);
    made->stream.lends_in = made->shape->format == made->desc.format;
    made->stream.lends_out =
        made->channels == 1 && made->desc.format != PENSTOCK_PLANAR; /* nothing is kept of pushes */
    penstock__filter_rewind(made);
    *filter = made;
    return PENSTOCK_OK;
fail:
    penstock__stream_free(&made->stream);
    return status;
}

static void free_filter(void *filter)
{
    penstock__stream_free(filter);
}

static const char *device_of_filter(const void *filter)
{
    return penstock__filter_engine_device(((const struct filter_stream *)filter)->engine);
}

int penstock_filter_open(penstock_stream **stream, penstock_context *context, const penstock_filter_desc *desc,
                         const char *device)
{
    static const struct penstock__maker maker = {.make = make_filter, .free = free_filter, .device = device_of_filter};
    struct penstock__async_build *build = NULL;
    struct filter_order *order;
    struct filter_stream *filter;
    penstock_filter_desc d;
    void *made;
    int status;
    if (!stream || !context)
        return bad("penstock_filter_open: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_filter_desc")) ||
        (status = penstock__filter_check(&d)) || (status = penstock__filter_order_new(&order, context, &d)))
        return status;
    status = penstock__make(&made, penstock__cpu_while_compiling(context, device) ? &build : NULL, &maker, order,
                            context, device);
    if (!build)
        penstock__filter_order_free(order);
    if (status)
        return status;
    filter = made;
    filter->build = build;
    filter->order = build ? order : NULL;
    *stream = &filter->stream;
    return PENSTOCK_OK;
}

static void cancel(penstock_stream *stream)
{
    penstock__async_build_cancel(filter_of(stream)->build);
}

static void free_stream(penstock_stream *stream)
{
    struct filter_stream *filter = filter_of(stream);
    penstock__async_build_free(filter->build);
    penstock__filter_order_free(filter->order);
    for (size_t c = 0; c < filter->channels; c++)
        penstock__filter_drop_taps(&filter->lines[c], NULL);
    penstock__filter_engine_free(filter->engine);
    penstock__free(filter->lines);
    penstock__free(filter->run);
    penstock__ring_free(&filter->ring);
    penstock_host_memory_free(stream->context, filter->made);
    penstock__rest_free(&filter->rest);
    penstock__free(filter);
}

static void reset(penstock_stream *stream)
{
    struct filter_stream *filter = filter_of(stream);
    for (size_t c = 0; c < filter->channels; c++) {
        penstock__filter_drop_taps(&filter->lines[c], filter->lines[c].newest);
        filter->lines[c].taps->from = 0;
        filter->lines[c].taps->shift.phase = filter->lines[c].phase;
    }
    penstock__filter_rewind(filter);
}

static int set_max_latency(penstock_stream *stream, double max_latency_s)
{
    struct filter_stream *filter = filter_of(stream);
    filter->desc.max_latency_s = max_latency_s;
    if (max_latency_s <= 0)
        filter->complete = 0;
    else if (filter->complete == 0 && penstock__filter_blocks_in(filter, filter->filled))
        filter->complete = penstock__now_s();
    return PENSTOCK_OK;
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    info->device = penstock__filter_engine_device(const_filter_of(stream)->engine);
}

const struct penstock__stream_kind penstock__filter_kind = {
    .name = "filter",
    .push = penstock__filter_push,
    .pull = penstock__filter_pull,
    .run = penstock__filter_run,
    .acquire = penstock__filter_acquire,
    .commit = penstock__filter_commit,
    .peek = penstock__filter_peek,
    .release = penstock__filter_release,
    .flush = penstock__filter_flush,
    .finish = penstock__filter_finish,
    .reset = reset,
    .cancel = cancel,
    .free = free_stream,
    .set_max_latency = set_max_latency,
    .due_s = penstock__filter_due_s,
    .get_info = get_info,
    .get_stats = penstock__filter_get_stats,
    .device_source = &penstock__filter_device_source,
    .device_work = penstock__filter_device_work,
};

/* ---------------------------------------------------------------- what is known --------------- */

/* That of a channel which holds at a sample. */
static struct filter_shift shift_at(const struct filter_stream *filter, size_t channel, uint64_t sample)
{
    const struct filter_taps *taps = filter->lines[channel].taps;
    while (taps->next && taps->next->from <= sample * filter->shape->interpolation)
        taps = taps->next;
    return taps->shift;
}

int penstock_filter_get_info(const penstock_stream *stream, penstock_filter_info *info)
{
    penstock_filter_info known = PENSTOCK_FILTER_INFO;
    int status = penstock__stream_is(stream, &penstock__filter_kind, "penstock_filter_get_info");
    if (status)
        return status;
    const struct filter_stream *filter = const_filter_of(stream);
    const struct filter_shape *shape = filter->shape;
    known.device = penstock__filter_engine_device(filter->engine);
    known.real = shape->real || shape->real_values;
    known.value_bytes = shape->value_bytes;
    known.n = shape->n;
    known.block = shape->block;
    known.latency = filter->whole - shape->history - 1 +
                    (penstock__filter_engine_slots(filter->engine) - 1) * penstock__filter_engine_rows(filter->engine) *
                        shape->block;
    known.delay = (double)(filter->lines[0].newest->count - 1) / 2 - (double)shape->advance;
    known.samples = filter->stream.taken;
    known.values = filter->stream.given;
    known.phase =
        (double)(penstock__filter_phase(shift_at(filter, 0, filter->stream.taken), filter->stream.taken) >> 11) *
        0x1p-53;
    known.channels = filter->channels;
    known.before = shape->history - shape->advance / shape->interpolation;
    known.reads = shape->partitions > 1 ? shape->n + (shape->partitions - 1) * shape->block : shape->n;
    return penstock__description_write(info, &known, sizeof known, "penstock_filter_info");
}

int penstock_filter_enqueue(penstock_stream *stream, const penstock_buffer *in, penstock_buffer *out, uint64_t first,
                            size_t blocks, penstock_queue *queue)
{
    int status = penstock__stream_is(stream, &penstock__filter_kind, "penstock_filter_enqueue");
    if (status)
        return status;
    struct filter_stream *filter = filter_of(stream);
    if (!blocks)
        return PENSTOCK_OK;
    penstock__filter_queue_settle(filter);
    return penstock__filter_engine_enqueue(filter->engine, filter->lines[0].newest, first, in, out, blocks, queue);
}
