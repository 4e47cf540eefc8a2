/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Batches of the filter bank on their way through a device. */
#include "ops/channelizer/channelizer_engine.h"

#include <stdio.h>

#define BATCH_BYTES ((size_t)16 << 20)
#define BATCHES     (PENSTOCK__RING_USUAL + 1) /* of one more the last frames wait for a linked stream's next batch */

/* ---------------------------------------------------------------- life ------------------------ */

int penstock__channelizer_engine_ring(struct channelizer_engine *engine, size_t best_batch)
{
    const struct channel_bank *bank = &engine->bank;
    const size_t frame = bank->channels * sizeof(penstock_cf32);
    struct penstock_device *device = penstock__channelizer_engine_memory(engine);
    size_t in = engine->folds ? bank->hop * penstock__channelizer_engine_sample(engine) : frame,
           most = penstock__ring_batch_bytes(device, BATCH_BYTES) / (in + frame);
    engine->capacity = best_batch < most ? best_batch : most;
    if (!engine->capacity)
        engine->capacity = 1;
    return penstock__ring_init(&engine->ring, engine->context, device, penstock__ring_count(device, BATCHES),
                               engine->folds ? 0 : engine->capacity * frame, engine->capacity * frame);
}

int penstock__channelizer_engine_plan(const struct channelizer_engine *engine, const struct channel_bank *bank,
                                      penstock_plan **plan)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    *plan = NULL;
    if (!engine->folds)
        return PENSTOCK_OK;
    int status = penstock_plan_get_info(engine->plans[0], &info);
    if (status)
        return status;
    struct penstock_problem problem = *penstock__plan_problem(engine->plans[0]);
    problem.fft.fold = bank->weights.depth;
    problem.fft.window = bank->factors;
    char device[64];
    snprintf(device, sizeof device, "%s%s", engine->movable ? "prefer:" : "", info.device);
    return penstock__plan_new_there(plan, engine->context, &problem, device, 0);
}

void penstock__channelizer_engine_set_plan(struct channelizer_engine *engine, penstock_plan *plan)
{
    penstock__channelizer_engine_settle(engine, SIZE_MAX);
    engine->fallbacks += penstock__plan_fallbacks(engine->plans[0]);
    penstock__plan_free(engine->plans[0]);
    engine->plans[0] = plan;
    if (engine->meter)
        penstock__plan_set_event_times(plan, &engine->meter->event_times);
}

void penstock__channelizer_engine_set_meter(struct channelizer_engine *engine, struct penstock__meter *meter)
{
    engine->meter = meter;
    penstock__plan_set_event_times(engine->plans[0], &meter->event_times);
}

void penstock__channelizer_engine_reset(struct channelizer_engine *engine)
{
    penstock__channelizer_engine_settle(engine, SIZE_MAX);
    if (engine->capacity)
        penstock__ring_reset(&engine->ring);
    engine->failure.status = PENSTOCK_OK;
}

/* ---------------------------------------------------------------- out and back ---------------- */

static bool has_room(struct channelizer_engine *engine)
{
    enum penstock__ring_state state = penstock__ring_last(&engine->ring)->state;
    return !engine->failure.status && (state == PENSTOCK__RING_FREE || state == PENSTOCK__RING_FILLING);
}

/* A device without a clock computes within the submission. */
static void tell_meter(struct channelizer_engine *engine, size_t frames, double began)
{
    bool clock = penstock__plan_has_clock(engine->plans[0]);
    if (engine->meter)
        penstock__meter_batch(engine->meter, frames, clock ? 0 : penstock__now_s() - began);
}

static int send(struct channelizer_engine *engine, const struct channelizer_frames *frames)
{
    struct penstock__ring_batch *batch = penstock__ring_last(&engine->ring);
    const void *in = frames->in + frames->start * penstock__channelizer_engine_sample(engine);
    double began = penstock__now_s();
    int status;
    if (engine->folds) {
        size_t turn = penstock__channel_bank_turn(&engine->bank, frames->first);
        status = penstock__plan_submit_turned(engine->plans[0], in, turn, batch->out, frames->count, &batch->ticket);
    } else {
        penstock__channelizer_engine_fold(engine, in, frames->first, frames->count, (penstock_cf32 *)(void *)batch->in);
        status = penstock_plan_submit(engine->plans[0], batch->in, batch->out, frames->count, &batch->ticket);
    }
    if (status)
        return penstock__failure_keep(&engine->failure, status);
    tell_meter(engine, frames->count, began);
    penstock__channelizer_engine_sent(engine, frames->start, frames->count, frames->since);
    return PENSTOCK_OK;
}

void penstock__channelizer_engine_sent(struct channelizer_engine *engine, size_t start, size_t count, double since)
{
    struct penstock__ring_batch *batch = penstock__ring_last(&engine->ring);
    batch->samples = SIZE_MAX;
    engine->starts[engine->ring.filling] = start;
    batch->items = count;
    batch->read = 0;
    batch->since = since;
    penstock__ring_sent(&engine->ring);
}

void penstock__channelizer_engine_send_again(struct channelizer_engine *engine, const char *in)
{
    const size_t bytes = penstock__channelizer_engine_sample(engine);
    int status = engine->failure.status;
    for (unsigned i = 0; i < engine->ring.count; i++) {
        const unsigned number = (engine->ring.oldest + i) % engine->ring.count;
        struct penstock__ring_batch *batch = &engine->ring.batches[number];
        if (batch->state != PENSTOCK__RING_HANDED)
            continue;
        const size_t turn = penstock__channel_bank_turn(&engine->bank, batch->ticket);
        if (!status && (status = penstock__plan_submit_turned(engine->plans[0], in + engine->starts[number] * bytes,
                                                              turn, batch->out, batch->items, &batch->ticket)))
            penstock__failure_keep(&engine->failure, status);
        batch->state = status ? PENSTOCK__RING_LOST : PENSTOCK__RING_SENT;
    }
}

int penstock__channelizer_engine_send(struct channelizer_engine *engine, const struct channelizer_frames *frames,
                                      size_t *sent)
{
    struct channelizer_frames some = *frames;
    int status = penstock__failure_tell(&engine->failure);
    *sent = 0;
    while (!status && *sent < frames->count && has_room(engine)) {
        size_t left = frames->count - *sent;
        if (left < engine->capacity && !frames->all)
            break;
        some.start = frames->start + *sent * engine->bank.hop;
        some.first = frames->first + *sent;
        some.count = left < engine->capacity ? left : engine->capacity;
        if (!(status = send(engine, &some)))
            *sent += some.count;
    }
    return status;
}

static int wait_for(struct channelizer_engine *engine, struct penstock__ring_batch *batch)
{
    int status = penstock_plan_wait(engine->plans[0], batch->ticket);
    batch->state = status ? PENSTOCK__RING_LOST : PENSTOCK__RING_DONE;
    return status ? penstock__failure_keep(&engine->failure, status) : PENSTOCK_OK;
}

void penstock__channelizer_engine_settle(struct channelizer_engine *engine, size_t end)
{
    struct penstock__ring *ring = &engine->ring;
    for (unsigned i = 0; i < ring->count; i++) {
        struct penstock__ring_batch *batch = &ring->batches[(ring->oldest + i) % ring->count];
        if (batch->state == PENSTOCK__RING_SENT && (batch->samples < end || end == SIZE_MAX))
            wait_for(engine, batch);
    }
}

/* Batches on their way lie where they were, ahead of what will be written next. */
void penstock__channelizer_engine_moved(struct channelizer_engine *engine)
{
    for (unsigned i = 0; i < engine->ring.count && engine->folds; i++)
        engine->ring.batches[i].samples = engine->starts[i];
}

size_t penstock__channelizer_engine_free_up_to(struct channelizer_engine *engine)
{
    size_t end = SIZE_MAX;
    for (unsigned i = 0; i < engine->ring.count; i++) {
        const struct penstock__ring_batch *batch = &engine->ring.batches[i];
        if (penstock__ring_is_away(batch) && batch->samples < end)
            end = batch->samples;
    }
    return end;
}

int penstock__channelizer_engine_ready(struct channelizer_engine *engine, bool wait, const penstock_cf32 **from,
                                       size_t *count)
{
    struct penstock__ring_batch *oldest = penstock__ring_oldest(&engine->ring);
    int status;
    *from = NULL;
    *count = 0;
    if (oldest->state == PENSTOCK__RING_SENT &&
        (wait || !has_room(engine) || penstock__ring_overdue(oldest, engine->max_latency_s)) &&
        (status = wait_for(engine, oldest)))
        return status;
    if (oldest->state != PENSTOCK__RING_DONE)
        return oldest->state == PENSTOCK__RING_SENT ? PENSTOCK_OK : penstock__failure_tell(&engine->failure);
    *from = (const penstock_cf32 *)(const void *)oldest->out + oldest->read * engine->bank.channels;
    *count = oldest->items - oldest->read;
    return PENSTOCK_OK;
}
