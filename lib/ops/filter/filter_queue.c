/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Batches of a filter on their way to a device that does all of a block at once, and their values. */
#include "ops/filter/filter_stream.h"

#include <string.h>

static size_t bytes_of(const struct filter_stream *filter)
{
    return filter->made_blocks * filter->shape->values * filter->shape->value_bytes;
}

/* What the engine is told of a batch. */
static struct filter_blocks blocks_of(struct filter_stream *filter, const struct penstock__ring_batch *batch)
{
    for (size_t c = 0; c < filter->channels; c++)
        filter->run[c] =
            (struct filter_channel){.taps = filter->lines[c].taps, .out = batch->out + c * bytes_of(filter)};
    return (struct filter_blocks){.first = batch->ticket,
                                  .count = filter->made_blocks,
                                  .in = batch->in,
                                  .near = filter->made_blocks,
                                  .channels = filter->run};
}

/* ---------------------------------------------------------------- waiting --------------------- */

/* After an error of the engine: nothing is on its way any more. */
static void lose(struct filter_stream *filter)
{
    for (unsigned i = 0; i < filter->ring.count; i++)
        if (filter->ring.batches[i].state == PENSTOCK__RING_SENT)
            filter->ring.batches[i].state = PENSTOCK__RING_LOST;
}

static void wait_for(struct filter_stream *filter, unsigned slot)
{
    struct penstock__ring_batch *batch = &filter->ring.batches[slot];
    if (batch->state != PENSTOCK__RING_SENT)
        return;
    if (penstock__filter_engine_wait(filter->engine, slot))
        lose(filter);
    else
        batch->state = PENSTOCK__RING_DONE;
}

void penstock__filter_queue_settle(struct filter_stream *filter)
{
    for (unsigned i = 0; i < filter->ring.count; i++)
        wait_for(filter, i);
}

/* Makes the oldest batch's values be there: those of one that is lost by the engine's other ways, at once. */
static int land(struct filter_stream *filter)
{
    struct penstock__ring_batch *batch = penstock__ring_oldest(&filter->ring);
    wait_for(filter, filter->ring.oldest);
    if (batch->state == PENSTOCK__RING_LOST) {
        struct filter_blocks blocks = blocks_of(filter, batch);
        int status = penstock__filter_engine_run(filter->engine, &blocks);
        if (status)
            return status;
        batch->state = PENSTOCK__RING_DONE;
    }
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- out and back ---------------- */

/* Samples gather in the memory of the next batch, behind what it needs of the one before. */
void penstock__filter_queue_next(struct filter_stream *filter, size_t blocks)
{
    struct penstock__ring *ring = &filter->ring;
    size_t bytes = filter->shape->sample_bytes, used = blocks * filter->shape->block;
    struct penstock__ring_batch *batch = penstock__ring_last(ring), *next;
    batch->items = blocks * filter->shape->values;
    batch->read = 0;
    batch->since = filter->complete;
    penstock__ring_sent(ring);
    next = penstock__ring_last(ring);
    next->state = PENSTOCK__RING_FILLING;
    next->items = next->read = 0;
    filter->filled -= used;
    memcpy(next->in, filter->in + used * bytes, filter->filled * bytes);
    filter->in = next->in;
    filter->blocks += blocks;
    filter->due = 0;
    filter->complete = 0;
}

void penstock__filter_queue_send(struct filter_stream *filter)
{
    struct penstock__ring *ring = &filter->ring;
    struct penstock__ring_batch *batch = penstock__ring_last(ring), *next;
    bool refills;
    if (ring->count == 1 || filter->shared || filter->filled < filter->whole || filter->stream.finished)
        return;
    next = &ring->batches[(ring->filling + 1) % ring->count];
    batch->ticket = filter->blocks;
    struct filter_blocks blocks = blocks_of(filter, batch);
    if (next->state != PENSTOCK__RING_FREE || !penstock__filter_engine_can_send(filter->engine, &blocks, &refills))
        return;
    if (refills) {
        penstock__filter_queue_settle(filter);
        if (penstock__filter_engine_slots(filter->engine) == 1)
            return;
    }
    if (penstock__filter_engine_send(filter->engine, &blocks, ring->filling)) {
        lose(filter);
        return;
    }
    penstock__filter_queue_next(filter, filter->made_blocks);
}

/* Of incomplete blocks values were pulled early; they are not given again. */
static void skip_early(struct filter_stream *filter, struct penstock__ring_batch *batch)
{
    size_t skipped = smaller(filter->early, batch->items - batch->read);
    batch->read += skipped;
    filter->early -= skipped;
}

int penstock__filter_queue_ready(struct filter_stream *filter, bool wait, struct penstock__ring_batch **ready)
{
    struct penstock__ring_batch *batch = penstock__ring_oldest(&filter->ring);
    bool now = wait || filter->due || filter->stream.finished || filter->stream.given < filter->flush_to;
    *ready = NULL;
    if (batch->state == PENSTOCK__RING_SENT && !now && !penstock__ring_overdue(batch, filter->desc.max_latency_s))
        return PENSTOCK_OK;
    if (batch->state != PENSTOCK__RING_DONE) {
        double began = penstock__now_s();
        int status = land(filter);
        if (status)
            return status;
        penstock__filter_measure_blocks(filter, filter->made_blocks, began);
    }
    skip_early(filter, batch);
    *ready = batch;
    return PENSTOCK_OK;
}

void penstock__filter_queue_release(struct filter_stream *filter, size_t count)
{
    const struct penstock__ring_batch *oldest = penstock__ring_oldest(&filter->ring);
    const uint64_t end = oldest->ticket + oldest->items / filter->shape->values;
    if (penstock__ring_release(&filter->ring, count)) {
        penstock__filter_taps_passed(filter, end);
        penstock__filter_queue_send(filter);
    }
}

int penstock__filter_queue_give(struct filter_stream *filter, const struct filter_output *output, size_t room,
                                bool wait, size_t *count)
{
    struct penstock__ring_batch *batch;
    size_t bytes = filter->shape->value_bytes;
    int status = penstock__filter_queue_ready(filter, wait, &batch);
    if (!batch)
        return status;
    *count = smaller(room, batch->items - batch->read);
    for (size_t c = 0; c < filter->channels; c++)
        penstock__copy(filter->stream.context, (char *)output->values[c] + output->at * bytes,
                       batch->out + c * bytes_of(filter) + batch->read * bytes, *count * bytes);
    penstock__filter_queue_release(filter, *count);
    return PENSTOCK_OK;
}
