/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Batches of a resampler on their way through a device. */
#include "ops/resampler/resampler_queue.h"
#include "core/base/context.h"
#include "core/device/device_group.h"
#include "core/plan/problem.h"

#include <math.h>
#include <string.h>

#define BATCH_BYTES   ((size_t)8 << 20) /* samples and outputs */
#define LEAST_SAMPLES 1024              /* of a batch, besides what taps reach */
#define MOST_SAMPLES  ((size_t)1 << 22)
#define LEAST_OUTPUTS ((size_t)1 << 16)  /* that there is room for, should the ratio rise */
#define TILE_BYTES    ((size_t)32 << 10) /* that a block's samples should fit into: a device's local memory */
#define LEAST_BLOCK   128
#define SHARED_BLOCK  16

/* ---------------------------------------------------------------- life ------------------------ */

/* As many outputs as have their samples in local memory; where that is few, many work-items make each. */
static size_t block_for(const struct resampler *resampler, double ratio)
{
    const double room = (double)(TILE_BYTES / (resampler->real ? 4 : 8)) - 2 * (double)resampler->history;
    size_t block = PENSTOCK__RESAMPLE_BLOCK;
    while (block >= LEAST_BLOCK && (double)block / ratio > room)
        block /= 2;
    return block >= LEAST_BLOCK ? block : SHARED_BLOCK;
}

static void describe(struct resampler_queue *queue, double least_ratio)
{
    const struct resampler *resampler = queue->resampler;
    queue->problem = (struct penstock_problem){.kind = PENSTOCK_PROBLEM_RESAMPLE,
                                               .in_bytes = penstock_format_bytes(resampler->format),
                                               .out_bytes = resampler->value_bytes,
                                               .batch = (size_t)1 << 20,
                                               .resample = {.format = resampler->format,
                                                            .real = resampler->real,
                                                            .complex_taps = resampler->arms->complex,
                                                            .block = block_for(resampler, least_ratio)}};
}

/* Rooms, for the ratio that there is; another one has other batches. */
static void measure(struct resampler_queue *queue, const struct penstock_device *device)
{
    struct resampler *resampler = queue->resampler;
    const double ratio = (double)resampler->ratio.up / (double)resampler->ratio.down;
    const double bytes = (double)penstock__ring_batch_bytes(device, BATCH_BYTES);
    const double fit = bytes / ((double)queue->problem.in_bytes + ratio * (double)queue->problem.out_bytes);
    const size_t samples = fit < LEAST_SAMPLES ? LEAST_SAMPLES : fit < MOST_SAMPLES ? (size_t)fit : MOST_SAMPLES;
    resampler->room = samples + 2 * resampler->history;
    queue->capacity = (size_t)ceil((double)resampler->room * ratio) + 2;
    queue->capacity = queue->capacity < LEAST_OUTPUTS ? LEAST_OUTPUTS : queue->capacity;
}

static int make_starts(struct resampler_queue *queue)
{
    const size_t each = penstock__resample_starts(&queue->problem.resample, queue->capacity);
    for (unsigned i = 0; i < queue->ring.count; i++)
        if (!(queue->batches[i].starts = penstock__calloc(each, sizeof *queue->batches[i].starts)))
            return PENSTOCK_ERR_MEMORY;
    return PENSTOCK_OK;
}

int penstock__resampler_queue_init(struct resampler_queue *queue, struct resampler *resampler,
                                   struct penstock__meter *meter, struct penstock_device *device, bool preferred,
                                   double least_ratio)
{
    int status;
    *queue = (struct resampler_queue){.resampler = resampler, .meter = meter, .preferred = preferred};
    describe(queue, least_ratio);
    measure(queue, device);
    if (penstock__problem_rank(device, &queue->problem) < 0)
        return PENSTOCK_ERR_UNSUPPORTED;
    if ((status = penstock__executor_new(&queue->executor, device, &queue->problem, PENSTOCK__RING_USUAL)) ||
        (status = penstock__ring_init(
             &queue->ring, resampler->context, device, penstock__ring_count(device, PENSTOCK__RING_USUAL),
             resampler->room * queue->problem.in_bytes, queue->capacity * queue->problem.out_bytes)))
        return status;
    return make_starts(queue);
}

/* What is on its way is waited for; be it lost. */
static void settle(struct resampler_queue *queue);

static void drop(struct resampler_batch *batch)
{
    penstock__resampler_arms_leave(batch->arms);
    batch->arms = NULL;
}

void penstock__resampler_queue_free(struct resampler_queue *queue)
{
    penstock__executor_free(queue->executor);
    penstock__ring_free(&queue->ring);
    for (unsigned i = 0; i < PENSTOCK__RING_MOST; i++) {
        drop(&queue->batches[i]);
        penstock__free(queue->batches[i].starts);
    }
    penstock__resampler_arms_leave(queue->head.arms);
    penstock__free(queue->head.values);
    penstock__free(queue->scratch);
    *queue = (struct resampler_queue){0};
}

void penstock__resampler_queue_reset(struct resampler_queue *queue)
{
    settle(queue);
    penstock__ring_reset(&queue->ring);
    for (unsigned i = 0; i < queue->ring.count; i++)
        drop(&queue->batches[i]);
    penstock__ring_last(&queue->ring)->since = 0;
    queue->flushing = false;
    queue->flush_to = queue->sent = queue->fallbacks = 0;
    queue->failure.status = PENSTOCK_OK;
    penstock__resampler_rewind(queue->resampler);
}

const char *penstock__resampler_queue_device(const struct resampler_queue *queue)
{
    return queue->executor ? queue->executor->state.device->name : "cpu";
}

/* ---------------------------------------------------------------- failures -------------------- */

/* What is on its way is lost. The CPU goes on, or the failure stays until a reset. */
static int fail(struct resampler_queue *queue, int status)
{
    struct penstock__ring *ring = &queue->ring;
    if (queue->preferred) {
        penstock__log(queue->resampler->context, PENSTOCK_LOG_WARNING, "%s failed, the CPU goes on: %s",
                      penstock__resampler_queue_device(queue), penstock_error_text());
        penstock__executor_free(queue->executor);
        queue->executor = NULL;
    } else {
        penstock__failure_keep(&queue->failure, status);
        penstock__executor_close(queue->executor);
    }
    for (unsigned i = 0; i < ring->count; i++)
        if (ring->batches[i].state == PENSTOCK__RING_SENT) {
            ring->batches[i].state = PENSTOCK__RING_LOST;
            queue->fallbacks += queue->preferred;
        }
    return queue->preferred ? PENSTOCK_OK : status;
}

static int wait_for(struct resampler_queue *queue, unsigned slot)
{
    struct penstock__ring_batch *batch = &queue->ring.batches[slot];
    if (batch->state != PENSTOCK__RING_SENT)
        return PENSTOCK_OK;
    int status = penstock__executor_wait(queue->executor, slot);
    if (status)
        return fail(queue, status);
    batch->state = PENSTOCK__RING_DONE;
    return PENSTOCK_OK;
}

static void settle(struct resampler_queue *queue)
{
    for (unsigned i = 0; i < queue->ring.count; i++)
        wait_for(queue, (queue->ring.oldest + i) % queue->ring.count);
}

/* ---------------------------------------------------------------- out and back ---------------- */

static int make_here(struct resampler_queue *queue, unsigned slot)
{
    struct penstock__ring_batch *batch = &queue->ring.batches[slot];
    const double began = penstock__now_s();
    int status = penstock__resampler_batch_make(queue, &queue->batches[slot], batch->in, batch->out, batch->items);
    if (status)
        return status;
    penstock__meter_batch(queue->meter, batch->items, penstock__now_s() - began);
    batch->state = PENSTOCK__RING_DONE;
    return PENSTOCK_OK;
}

/* To the device; where that has failed and the CPU goes on, the batch is lost for now. */
static int submit(struct resampler_queue *queue, unsigned slot)
{
    struct penstock__ring_batch *batch = &queue->ring.batches[slot];
    struct resampler_batch *made = &queue->batches[slot];
    int status;
    if (!penstock__resampler_batch_holds(queue, made))
        settle(queue);
    if (!queue->executor || queue->failure.status)
        return penstock__failure_tell(&queue->failure);
    if ((status = penstock__resampler_batch_head(queue, made)))
        return fail(queue, status);
    made->tables.head = queue->head.values;
    made->tables.head_bytes = queue->head.bytes;
    const bool clock = penstock__executor_has_clock(queue->executor);
    const double began = penstock__now_s();
    status = penstock__executor_submit(queue->executor, slot,
                                       &(struct penstock__batch){.in = batch->in,
                                                                 .resample = &made->tables,
                                                                 .coefficients_id = queue->head.id,
                                                                 .out = batch->out,
                                                                 .frames = batch->items,
                                                                 .samples = made->tables.end,
                                                                 .event_times = &queue->meter->event_times});
    if (status)
        return fail(queue, status);
    penstock__meter_batch(queue->meter, batch->items, clock ? 0 : penstock__now_s() - began);
    return PENSTOCK_OK;
}

/* Samples gather in the memory of the next batch, behind what it needs of the one before. */
static void go_on(struct resampler_queue *queue, size_t at, uint64_t part)
{
    struct penstock__ring *ring = &queue->ring;
    struct resampler *resampler = queue->resampler;
    const char *before = penstock__ring_last(ring)->in;
    const size_t bytes = queue->problem.in_bytes;
    penstock__ring_sent(ring);
    struct penstock__ring_batch *next = penstock__ring_last(ring);
    next->state = PENSTOCK__RING_FILLING;
    next->items = next->read = 0;
    next->since = 0;
    resampler->at = at;
    resampler->part = part;
    const size_t gone = penstock__resampler_forget(resampler);
    memcpy(next->in, before + gone * bytes, resampler->count * bytes);
}

/* Where nothing is made of what fills the memory, an output being far ahead. */
static void make_way(struct resampler_queue *queue)
{
    const size_t bytes = queue->problem.in_bytes, gone = penstock__resampler_forget(queue->resampler);
    char *in = penstock__ring_last(&queue->ring)->in;
    memmove(in, in + gone * bytes, queue->resampler->count * bytes);
}

/* Whether another batch can be filled while this one is on its way. */
static bool next_is_free(const struct resampler_queue *queue)
{
    return queue->ring.batches[(queue->ring.filling + 1) % queue->ring.count].state == PENSTOCK__RING_FREE;
}

/* Samples that a batch gathers: where the ratio has risen no more than there is room for their outputs. */
static size_t most_samples(const struct resampler_queue *queue)
{
    const struct resampler *resampler = queue->resampler;
    const double ratio = (double)resampler->ratio.up / (double)resampler->ratio.down;
    const size_t behind = resampler->at + penstock__resampler_ahead(resampler->arms) + 2;
    const double most = (double)queue->capacity / ratio + (double)behind;
    return most < (double)resampler->room ? (size_t)most : resampler->room;
}

static bool is_full(const struct resampler_queue *queue)
{
    return queue->resampler->count >= most_samples(queue);
}

/* The filling batch's outputs so far; whether it had any. */
static int send(struct resampler_queue *queue, bool *sent)
{
    const unsigned slot = queue->ring.filling;
    struct penstock__ring_batch *batch = &queue->ring.batches[slot];
    struct resampler_batch *made = &queue->batches[slot];
    size_t at;
    uint64_t part;
    const size_t outputs = penstock__resampler_batch_plan(queue, made, &at, &part);
    *sent = outputs > 0;
    if (!outputs)
        return PENSTOCK_OK;
    drop(made);
    made->arms = penstock__resampler_arms_keep(queue->resampler->arms);
    batch->items = outputs;
    batch->read = 0;
    int status = submit(queue, slot);
    if (status) { /* it stays as it is, to be sent again */
        drop(made);
        batch->items = 0;
        *sent = false;
        return status;
    }
    batch->ticket = queue->sent;
    queue->sent += outputs;
    go_on(queue, at, part);
    if (!queue->executor) {
        batch->state = PENSTOCK__RING_LOST;
        queue->fallbacks++;
    }
    return PENSTOCK_OK;
}

/* Notes when the filling batch has something complete. */
static void note(struct resampler_queue *queue)
{
    struct penstock__ring_batch *batch = penstock__ring_last(&queue->ring);
    if (!batch->items && penstock__resampler_ready(queue->resampler)) {
        batch->items = 1;
        batch->since = penstock__now_s();
    }
}

/* What is full, or asked for. */
static int send_due(struct resampler_queue *queue)
{
    bool sent = true;
    int status = penstock__failure_tell(&queue->failure);
    while (!status && sent && next_is_free(queue)) {
        const bool full = is_full(queue), all = queue->flushing || queue->resampler->finished || !queue->executor;
        note(queue);
        if (!full && !all && !penstock__ring_overdue(penstock__ring_last(&queue->ring), queue->max_latency_s))
            break;
        status = send(queue, &sent);
        if (!status && !sent && full)
            make_way(queue);
    }
    if (!status && !sent && queue->flushing) {
        queue->flushing = false;
        queue->flush_to = queue->sent;
    }
    note(queue);
    return status;
}

int penstock__resampler_queue_room(struct resampler_queue *queue, void **to, size_t *room)
{
    int status = send_due(queue);
    const struct resampler *resampler = queue->resampler;
    *room = status || is_full(queue) ? 0 : most_samples(queue) - resampler->count;
    *to = penstock__ring_last(&queue->ring)->in + resampler->count * queue->problem.in_bytes;
    return status;
}

int penstock__resampler_queue_commit(struct resampler_queue *queue, size_t count)
{
    queue->resampler->count += count;
    return send_due(queue);
}

int penstock__resampler_queue_flush(struct resampler_queue *queue)
{
    queue->flushing = true;
    return send_due(queue);
}

int penstock__resampler_queue_ready(struct resampler_queue *queue, bool wait, const void **from, size_t *count)
{
    const unsigned slot = queue->ring.oldest;
    struct penstock__ring_batch *oldest = &queue->ring.batches[slot];
    int status = send_due(queue), waited = PENSTOCK_OK;
    const bool now = wait || queue->flushing || queue->resampler->finished || oldest->ticket < queue->flush_to ||
                     (is_full(queue) && !next_is_free(queue)) || penstock__ring_overdue(oldest, queue->max_latency_s);
    *from = NULL;
    *count = 0;
    if (oldest->state == PENSTOCK__RING_SENT && now)
        waited = wait_for(queue, slot);
    if (oldest->state == PENSTOCK__RING_LOST && !queue->failure.status)
        waited = make_here(queue, slot);
    if (oldest->state != PENSTOCK__RING_DONE)
        return waited ? waited : oldest->state == PENSTOCK__RING_SENT ? PENSTOCK_OK : status;
    *from = oldest->out + oldest->read * queue->problem.out_bytes;
    *count = oldest->items - oldest->read;
    return PENSTOCK_OK;
}

void penstock__resampler_queue_release(struct resampler_queue *queue, size_t count)
{
    const unsigned slot = queue->ring.oldest;
    if (penstock__ring_release(&queue->ring, count))
        drop(&queue->batches[slot]);
}

/* ---------------------------------------------------------------- what is known --------------- */

double penstock__resampler_queue_due_s(const struct resampler_queue *queue)
{
    const struct penstock__ring_batch *oldest = &queue->ring.batches[queue->ring.oldest];
    if (!queue->executor && penstock__resampler_ready(queue->resampler))
        return 0;
    if (oldest->state == PENSTOCK__RING_SENT &&
        (queue->resampler->finished || queue->flushing || oldest->ticket < queue->flush_to))
        return 0;
    return penstock__ring_due_s(&queue->ring, queue->max_latency_s);
}
