/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Soft bits of OFDM symbols that stay on the device that made them: those of batches, whose samples stay in the ring
 * until they were used up, and of samples that are there already. The stream behind uses up single ones: where what is
 * taken back begins within a symbol, the host makes all of that one, and the link leaves out what was used.
 */
#include "core/stream/latency.h"
#include "core/stream/stream_device.h"
#include "ops/ofdm/ofdm_demodulator.h"
#include "ops/ofdm/ofdm_soft_stream.h"

#include <string.h>

/* ---------------------------------------------------------------- batches that stay ----------- */

static bool shape(const penstock_stream *stream, struct penstock__device_shape *shape)
{
    const struct soft_stream *self = penstock__soft_of_const(stream);
    const struct penstock__executor *executor = penstock__ofdm_enqueuing(self->ofdm);
    if (!executor || executor->group || executor->state.device != self->device)
        return false;
    *shape = (struct penstock__device_shape){
        .device = self->device, .values = stream->out_bytes, .blocks = self->batch, .batches = self->ring.count};
    return true;
}

static size_t bytes(const penstock_stream *stream, size_t symbols)
{
    return symbols * penstock__soft_of_const(stream)->step * stream->in_bytes;
}

static void share(penstock_stream *stream, bool shared)
{
    penstock__soft_of(stream)->shared = shared;
}

static bool idle(const penstock_stream *stream)
{
    const struct soft_stream *self = penstock__soft_of_const(stream);
    return !self->waiting && self->ring.oldest == self->ring.filling;
}

static bool full(const penstock_stream *stream)
{
    const struct soft_stream *self = penstock__soft_of_const(stream);
    return !stream->finished && penstock__soft_complete(self) == self->batch;
}

static bool can_make(penstock_stream *stream)
{
    (void)stream;
    return true;
}

static bool room(const penstock_stream *stream)
{
    const struct penstock__ring *ring = &penstock__soft_of_const(stream)->ring;
    return ring->batches[(ring->filling + 1) % ring->count].state == PENSTOCK__RING_FREE;
}

static bool overdue(const penstock_stream *stream)
{
    const struct soft_stream *self = penstock__soft_of_const(stream);
    return !full(stream) && penstock__latency_is_over(self->since, self->max_latency_s);
}

static size_t blocks(const penstock_stream *stream, size_t most)
{
    const size_t complete = penstock__soft_complete(penstock__soft_of_const(stream));
    return complete < most ? complete : most;
}

static bool rest(const penstock_stream *stream)
{
    return penstock__soft_complete(penstock__soft_of_const(stream)) > 0;
}

static unsigned number(const penstock_stream *stream)
{
    return penstock__soft_of_const(stream)->ring.filling;
}

static int make(penstock_stream *stream, size_t symbols, penstock_buffer *in, penstock_buffer *out,
                penstock_queue *queue)
{
    struct soft_stream *self = penstock__soft_of(stream);
    struct penstock__ring_batch *batch = penstock__ring_last(&self->ring);
    const size_t used = symbols * self->step, left = batch->samples - used;
    int status = penstock__buffer_send(in, batch->in, bytes(stream, symbols), queue);
    if (status || (status = penstock__ofdm_enqueue_more(self->ofdm, &self->frame, in, out, symbols, queue)))
        return status;
    batch->items = symbols;
    batch->read = 0;
    batch->ticket = self->sent;
    batch->since = self->since;
    penstock__ring_sent(&self->ring);
    batch->state = PENSTOCK__RING_HANDED;
    struct penstock__ring_batch *next = penstock__ring_last(&self->ring);
    next->state = PENSTOCK__RING_FILLING;
    next->samples = left;
    memcpy(next->in, batch->in + used * stream->in_bytes, left * stream->in_bytes);
    self->sent += symbols;
    self->since = penstock__soft_complete(self) ? penstock__now_s() : 0;
    return PENSTOCK_OK;
}

static void used(penstock_stream *stream, size_t values)
{
    struct soft_stream *self = penstock__soft_of(stream);
    const size_t symbols = (self->part + values) / stream->out_bytes;
    self->part = (self->part + values) % stream->out_bytes;
    penstock__stream_gave(stream, symbols, (stream->given + 1) * self->step, self->step);
    penstock__ring_used(&self->ring, symbols);
}

static size_t take_back(penstock_stream *stream)
{
    struct soft_stream *self = penstock__soft_of(stream);
    const size_t part = self->part;
    self->part = 0;
    penstock__ring_take_back(&self->ring);
    return part;
}

const struct penstock__device_source penstock__soft_device_source = {
    .shape = shape,
    .bytes = bytes,
    .share = share,
    .idle = idle,
    .full = full,
    .can_make = can_make,
    .room = room,
    .overdue = overdue,
    .blocks = blocks,
    .rest = rest,
    .number = number,
    .make = make,
    .used = used,
    .take_back = take_back,
};

/* ---------------------------------------------------------------- the caller's samples -------- */

static int put(penstock_stream *stream, uint64_t first, size_t symbols, const penstock_buffer *in, penstock_buffer *out,
               penstock_queue *queue)
{
    struct soft_stream *self = penstock__soft_of(stream);
    (void)first;
    return penstock__ofdm_enqueue_more(self->ofdm, &self->frame, in, out, symbols, queue);
}

int penstock__soft_device_work(penstock_stream *stream, struct penstock__device_work *work)
{
    const struct soft_stream *self = penstock__soft_of_const(stream);
    int status = penstock__ofdm_enqueues(self->ofdm);
    if (status)
        return status;
    *work = (struct penstock__device_work){.samples = 1,
                                           .sample_bytes = stream->in_bytes,
                                           .result_bytes = stream->out_bytes,
                                           .step = self->step,
                                           .span = self->step,
                                           .results = 1,
                                           .put = put};
    return PENSTOCK_OK;
}
