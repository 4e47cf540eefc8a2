/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Batches of a filter whose values stay on the device that made them. Their samples stay in the ring until the values
 * were used up; what is taken back is lost like a batch that has failed, and made again.
 */
#include "core/stream/device_ends.h"
#include "core/stream/stream_device.h"
#include "ops/filter/filter_run.h"
#include "ops/filter/filter_stream.h"

static bool shape(const penstock_stream *stream, struct penstock__device_shape *shape)
{
    const struct filter_stream *filter = const_filter_of(stream);
    const struct penstock__executor *executor = filter->engine->fused.executor;
    if (filter->build || filter->channels != 1 || !executor || executor->group ||
        filter->shape->format != filter->desc.format)
        return false;
    *shape = (struct penstock__device_shape){.device = executor->state.device,
                                             .values = filter->shape->values,
                                             .blocks = filter->made_blocks,
                                             .batches = filter->ring.count};
    return true;
}

static size_t bytes(const penstock_stream *stream, size_t blocks)
{
    const struct filter_stream *filter = const_filter_of(stream);
    return penstock__filter_samples(&filter->engine->fused.problem.filter, blocks) * filter->shape->sample_bytes;
}

static void share(penstock_stream *stream, bool shared)
{
    filter_of(stream)->shared = shared;
}

static bool idle(const penstock_stream *stream)
{
    const struct filter_stream *filter = const_filter_of(stream);
    return !penstock__filter_in_flight(filter) && filter->given == filter->ready && !filter->early &&
           !penstock__rest_count(&filter->rest);
}

static bool full(const penstock_stream *stream)
{
    const struct filter_stream *filter = const_filter_of(stream);
    return !stream->finished && stream->given >= filter->flush_to && filter->filled >= filter->whole;
}

static bool can_make(penstock_stream *stream)
{
    struct filter_stream *filter = filter_of(stream);
    bool refills;
    filter->run[0] = (struct filter_channel){.taps = filter->lines[0].taps};
    const struct filter_blocks blocks = {
        .first = filter->blocks, .count = filter->made_blocks, .in = filter->in, .channels = filter->run};
    return penstock__filter_engine_can_send(filter->engine, &blocks, &refills);
}

static bool room(const penstock_stream *stream)
{
    const struct penstock__ring *ring = &const_filter_of(stream)->ring;
    return ring->batches[(ring->filling + 1) % ring->count].state == PENSTOCK__RING_FREE;
}

static bool overdue(const penstock_stream *stream)
{
    const struct filter_stream *filter = const_filter_of(stream);
    return filter->complete > 0 && filter->desc.max_latency_s > 0 && filter->filled < filter->whole &&
           penstock__now_s() - filter->complete >= filter->desc.max_latency_s;
}

static unsigned number(const penstock_stream *stream)
{
    return const_filter_of(stream)->ring.filling;
}

/* The taps that hold at the start of the batch; they do within it. */
static const struct filter_taps *taps_of(const struct filter_stream *filter)
{
    const struct filter_taps *taps = filter->lines[0].taps;
    while (!penstock__filter_taps_end(filter->shape, taps, filter->blocks))
        taps = taps->next;
    return taps;
}

static int make(penstock_stream *stream, size_t blocks, penstock_buffer *in, penstock_buffer *out,
                penstock_queue *queue)
{
    struct filter_stream *filter = filter_of(stream);
    struct penstock__ring_batch *batch = penstock__ring_last(&filter->ring);
    int status = penstock__buffer_send(in, batch->in, bytes(stream, blocks), queue);
    if (status ||
        (status = penstock__filter_fused_put(filter->engine, taps_of(filter), filter->blocks, in, out, blocks, queue)))
        return status;
    batch->ticket = filter->blocks;
    penstock__filter_queue_next(filter, blocks);
    batch->state = PENSTOCK__RING_HANDED;
    return PENSTOCK_OK;
}

static void used(penstock_stream *stream, size_t results)
{
    struct filter_stream *filter = filter_of(stream);
    stream->given += results;
    for (size_t some; results; results -= some) {
        some = penstock__ring_unread(&filter->ring, results);
        penstock__filter_queue_release(filter, some);
    }
    penstock__filter_measure(filter, penstock__now_s());
}

static size_t take_back(penstock_stream *stream)
{
    penstock__ring_take_back(&filter_of(stream)->ring);
    return 0;
}

const struct penstock__device_source penstock__filter_device_source = {
    .shape = shape,
    .bytes = bytes,
    .share = share,
    .idle = idle,
    .full = full,
    .can_make = can_make,
    .room = room,
    .overdue = overdue,
    .number = number,
    .make = make,
    .used = used,
    .take_back = take_back,
};

/* ---------------------------------------------------------------- the caller's samples -------- */

static int put(penstock_stream *stream, uint64_t first, size_t blocks, const penstock_buffer *in, penstock_buffer *out,
               penstock_queue *queue)
{
    struct filter_stream *filter = filter_of(stream);
    return penstock__filter_engine_enqueue(filter->engine, filter->lines[0].newest, first, in, out, blocks, queue);
}

int penstock__filter_device_work(penstock_stream *stream, struct penstock__device_work *work)
{
    const struct filter_stream *filter = const_filter_of(stream);
    const struct filter_shape *shape = filter->shape;
    if (filter->channels != 1 || shape->format != filter->desc.format || !filter->engine->fused.executor)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "filter: %s does not do all of this one in one kernel",
                               penstock__filter_engine_device(filter->engine));
    *work = (struct penstock__device_work){.samples = 1,
                                           .sample_bytes = shape->sample_bytes,
                                           .result_bytes = shape->value_bytes,
                                           .lead = shape->history - shape->advance / shape->interpolation,
                                           .step = shape->block,
                                           .span = shape->frame,
                                           .results = shape->values,
                                           .total = penstock__filter_total(filter),
                                           .put = put};
    return PENSTOCK_OK;
}
