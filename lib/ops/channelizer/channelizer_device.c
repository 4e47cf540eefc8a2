/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames on the device, where it does the sums of the branches too: batches whose frames stay there, and frames of
 * samples that are there already. The samples of the former stay where they gathered until the frames were used up;
 * what is taken back goes to the device as all other batches do.
 */
#include "core/plan/plan.h"
#include "core/stream/device_ends.h"
#include "core/stream/stream_device.h"
#include "ops/channelizer/channelizer_stream.h"

/* ---------------------------------------------------------------- batches that stay ----------- */

static bool shape(const penstock_stream *stream, struct penstock__device_shape *shape)
{
    const struct channelizer *channelizer = const_channelizer_of(stream);
    const struct channelizer_engine *engine = &channelizer->engine;
    if (channelizer->build || !engine->folds || engine->select || engine->failure.status)
        return false;
    const struct penstock__executor *executor = penstock__plan_executor_now(engine->plans[0]);
    *shape = (struct penstock__device_shape){.device = executor->state.device,
                                             .values = engine->bank.channels,
                                             .blocks = engine->capacity,
                                             .batches = engine->ring.count};
    return !executor->group;
}

static size_t bytes(const penstock_stream *stream, size_t frames)
{
    const struct channelizer_engine *engine = &const_channelizer_of(stream)->engine;
    return ((frames - 1) * engine->bank.hop + engine->bank.window) * penstock__channelizer_engine_sample(engine);
}

static void share(penstock_stream *stream, bool shared)
{
    channelizer_of(stream)->shared = shared;
}

static bool nothing_is_away(const struct channelizer *channelizer)
{
    const struct penstock__ring *ring = &channelizer->engine.ring;
    return ring->batches[ring->oldest].state <= PENSTOCK__RING_FILLING;
}

static bool idle(const penstock_stream *stream)
{
    const struct channelizer *channelizer = const_channelizer_of(stream);
    return nothing_is_away(channelizer) && !penstock__rest_count(&channelizer->rest);
}

static bool full(const penstock_stream *stream)
{
    const struct channelizer *channelizer = const_channelizer_of(stream);
    return !stream->finished && channelizer->folded >= channelizer->flush_to &&
           penstock__channelizer_all_windows(channelizer) >= channelizer->engine.capacity;
}

/* Another prototype, once it holds, ends the plan of the one before. */
static bool can_make(penstock_stream *stream)
{
    return !channelizer_of(stream)->changes;
}

static bool room(const penstock_stream *stream)
{
    const struct penstock__ring *ring = &const_channelizer_of(stream)->engine.ring;
    return ring->batches[ring->filling].state <= PENSTOCK__RING_FILLING &&
           ring->batches[(ring->filling + 1) % ring->count].state == PENSTOCK__RING_FREE;
}

static bool overdue(const penstock_stream *stream)
{
    return !full(stream) && penstock__channelizer_overdue(const_channelizer_of(stream));
}

static unsigned number(const penstock_stream *stream)
{
    return const_channelizer_of(stream)->engine.ring.filling;
}

static int make(penstock_stream *stream, size_t frames, penstock_buffer *in, penstock_buffer *out,
                penstock_queue *queue)
{
    struct channelizer *channelizer = channelizer_of(stream);
    struct channelizer_engine *engine = &channelizer->engine;
    struct penstock__ring_batch *batch = penstock__ring_last(&engine->ring);
    const size_t turn = penstock__channel_bank_turn(&engine->bank, channelizer->folded);
    const void *samples = penstock__channelizer_sample(channelizer, channelizer->start);
    int status = penstock__buffer_send(in, samples, bytes(stream, frames), queue);
    if (status || (status = penstock__plan_enqueue_turned(engine->plans[0], in, turn, out, frames, queue)))
        return status;
    batch->ticket = channelizer->folded;
    penstock__channelizer_engine_sent(engine, channelizer->start, frames, channelizer->since);
    batch->state = PENSTOCK__RING_HANDED;
    channelizer->since = 0;
    penstock__channelizer_leave(channelizer, frames);
    return PENSTOCK_OK;
}

static void used(penstock_stream *stream, size_t values)
{
    struct channelizer *channelizer = channelizer_of(stream);
    struct channelizer_engine *engine = &channelizer->engine;
    penstock__channelizer_gave(stream, values / engine->bank.channels);
    penstock__ring_used(&engine->ring, values / engine->bank.channels);
}

static size_t take_back(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    penstock__channelizer_engine_send_again(&channelizer->engine, channelizer->in);
    return 0;
}

const struct penstock__device_source penstock__channelizer_device_source = {
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

static int put(penstock_stream *stream, uint64_t first, size_t frames, const penstock_buffer *in, penstock_buffer *out,
               penstock_queue *queue)
{
    const struct channelizer_engine *engine = &channelizer_of(stream)->engine;
    const size_t turn = penstock__channel_bank_turn(&engine->bank, first);
    return penstock__plan_enqueue_turned(engine->plans[0], in, turn, out, frames, queue);
}

int penstock__channelizer_device_work(penstock_stream *stream, struct penstock__device_work *work)
{
    const struct channelizer *channelizer = channelizer_of(stream);
    const struct channelizer_engine *engine = &channelizer->engine;
    const struct channel_bank *bank = &engine->bank;
    if (!engine->folds || engine->select || channelizer->desc.format != engine->format)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "channelizer: on a device it takes complex samples that have a zero, gives all "
                               "channels, and has a kernel for the branches");
    *work = (struct penstock__device_work){.samples = 1,
                                           .sample_bytes = penstock__channelizer_engine_sample(engine),
                                           .result_bytes = bank->channels * sizeof(penstock_cf32),
                                           .lead = bank->window - 1 - bank->advance,
                                           .step = bank->hop,
                                           .span = bank->window,
                                           .results = 1,
                                           .total = penstock__channelizer_total(channelizer),
                                           .put = put};
    return PENSTOCK_OK;
}
