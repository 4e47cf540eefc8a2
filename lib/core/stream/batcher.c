/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A ring of batches. One is being filled, those before it are with the plan, those before them wait to be read. What a
 * batch holds beyond its frames (the overlap with the next frame, and samples of a group that is not complete) is
 * carried to the next batch as soon as that one is free.
 */
#include "core/plan/executor.h"
#include "core/stream/batcher_state.h"

#include <math.h>
#include <string.h>

#define FEW_BATCHES      2              /* where one alone is larger than the caller likes, */
#define MANY_THREADS     8              /* or so many work within the call: each batch costs these a meeting, */
#define MANY_TIMES       4              /* so that it is as many times as long as one for few, */
#define MANY_BYTES       2              /* in as many times the memory */
#define STRAIGHT_SAMPLES ((size_t)2048) /* for each thread: worth more than it costs to hand them over */

/* ---------------------------------------------------------------- life ------------------------ */

/* A ring in memory that suits the plan's device, of batches of `*capacity` groups. After an error too, it is to be
 * freed. */
static int make_ring(struct penstock__ring *ring, size_t *capacity, const struct penstock__batcher *batcher)
{
    struct penstock_device *device = penstock__plan_executor(batcher->plan)->state.device;
    const bool many = penstock__plan_is_direct(batcher->plan) && batcher->threads >= MANY_THREADS;
    const size_t max_bytes = penstock__ring_batch_bytes(device, batcher->max_bytes) * (many ? MANY_BYTES : 1);
    size_t frames = penstock__plan_problem(batcher->plan)->batch;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status = penstock_plan_get_info(batcher->plan, &info);
    if (status)
        return status;
    info.best_batch *= many ? MANY_TIMES : 1;
    frames = info.best_batch > frames ? info.best_batch : frames;
    *capacity = penstock__groups_fit(&batcher->groups, max_bytes, frames);
    size_t in_bytes = penstock__groups_samples(&batcher->groups, *capacity) * batcher->groups.sample_bytes;
    size_t out_bytes = *capacity * batcher->groups.result_bytes;
    unsigned each = many || in_bytes + out_bytes > max_bytes ? FEW_BATCHES : PENSTOCK__RING_USUAL;
    return penstock__ring_init(ring, device->context, device, penstock__ring_count(device, each), in_bytes, out_bytes);
}

int penstock__batcher_new(struct penstock__batcher **batcher, penstock_plan *plan, size_t max_bytes,
                          double max_latency_s)
{
    struct penstock__batcher *made = penstock__calloc(1, sizeof *made);
    int status;
    *batcher = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->plan = plan;
    made->max_bytes = max_bytes;
    made->device = penstock__plan_executor(plan)->state.device;
    made->groups = penstock__groups_of(penstock__plan_problem(plan));
    made->max_latency_s = max_latency_s;
    made->threads = penstock__threads(made->device->context);
    if ((status = make_ring(&made->ring, &made->capacity, made))) {
        penstock__batcher_free(made);
        return status;
    }
    *batcher = made;
    return PENSTOCK_OK;
}

void penstock__batcher_set_meter(struct penstock__batcher *batcher, struct penstock__meter *meter)
{
    batcher->meter = meter;
    penstock__plan_set_event_times(batcher->plan, &meter->event_times);
}

void penstock__batcher_set_turn(struct penstock__batcher *batcher, size_t turn)
{
    batcher->first_turn = batcher->turn = turn;
}

void penstock__batcher_set_latency(struct penstock__batcher *batcher, double max_latency_s)
{
    batcher->max_latency_s = max_latency_s;
}

/* Whether the plan has gone over to a device that wants other memory, which a processor does not. */
static bool moves(const struct penstock__batcher *batcher)
{
    return penstock__plan_executor(batcher->plan)->state.device != batcher->device &&
           !penstock__plan_is_direct(batcher->plan);
}

/* Takes what is carried along. Without memory for it the ring stays as it is. */
static void move(struct penstock__batcher *batcher)
{
    struct penstock__ring ring = {.context = NULL};
    size_t capacity;
    batcher->device = penstock__plan_executor(batcher->plan)->state.device;
    if (make_ring(&ring, &capacity, batcher)) {
        penstock__ring_free(&ring);
        return;
    }
    if (batcher->carried_samples)
        memcpy(ring.batches[0].in, batcher->carried, batcher->carried_samples * batcher->groups.sample_bytes);
    ring.batches[0].samples = batcher->carried_samples;
    batcher->carried_samples = 0;
    batcher->capacity = capacity;
    penstock__ring_free(&batcher->ring);
    batcher->ring = ring;
}

void penstock__batcher_reset(struct penstock__batcher *batcher)
{
    penstock_plan_wait(batcher->plan, batcher->last_ticket); /* a failure is forgotten with the rest */
    penstock__ring_reset(&batcher->ring);
    batcher->carried = NULL;
    batcher->carried_samples = 0;
    batcher->failure.status = PENSTOCK_OK;
    batcher->turn = batcher->first_turn;
    if (moves(batcher))
        move(batcher);
}

void penstock__batcher_free(struct penstock__batcher *batcher)
{
    if (!batcher)
        return;
    penstock_plan_wait(batcher->plan, batcher->last_ticket);
    penstock__ring_free(&batcher->ring);
    penstock__free(batcher);
}

/* ---------------------------------------------------------------- in -------------------------- */

static void count_groups(struct penstock__batcher *batcher, struct penstock__ring_batch *batch)
{
    size_t groups = penstock__groups_complete(&batcher->groups, batch->samples);
    if (groups && !batch->items)
        batch->since = penstock__now_s();
    batch->items = groups;
}

/* Whether there is a batch to fill. Before a move, which is between two batches, all results must have been read. */
static bool has_room(const struct penstock__batcher *batcher)
{
    const struct penstock__ring *ring = &batcher->ring;
    const struct penstock__ring_batch *last = &ring->batches[ring->filling];
    return last->state == PENSTOCK__RING_FILLING ||
           (last->state == PENSTOCK__RING_FREE && (ring->oldest == ring->filling || !moves(batcher)));
}

struct penstock__ring_batch *penstock__batcher_filling(struct penstock__batcher *batcher)
{
    if (!has_room(batcher))
        return NULL;
    if (penstock__ring_last(&batcher->ring)->state == PENSTOCK__RING_FREE && moves(batcher))
        move(batcher);
    struct penstock__ring_batch *batch = penstock__ring_last(&batcher->ring);
    if (batch->state == PENSTOCK__RING_FREE) {
        batch->state = PENSTOCK__RING_FILLING;
        batch->samples = batcher->carried_samples;
        batch->items = batch->read = 0;
        if (batch->samples) /* which may lie there, where batches came on the device meanwhile */
            memmove(batch->in, batcher->carried, batch->samples * batcher->groups.sample_bytes);
        batcher->carried_samples = 0;
    }
    return batch;
}

int penstock__batcher_room(struct penstock__batcher *batcher, void **to, size_t *samples)
{
    struct penstock__ring_batch *batch = batcher->failure.status ? NULL : penstock__batcher_filling(batcher);
    *samples = batch ? penstock__groups_samples(&batcher->groups, batcher->capacity) - batch->samples : 0;
    *to = batch ? batch->in + batch->samples * batcher->groups.sample_bytes : NULL;
    return penstock__failure_tell(&batcher->failure);
}

/* A device without a clock computes within the submission. */
static void tell_meter(struct penstock__batcher *batcher, const struct penstock__ring_batch *batch, double began)
{
    bool clock = penstock__plan_has_clock(batcher->plan);
    if (batcher->meter)
        penstock__meter_batch(batcher->meter, batch->items, clock ? 0 : penstock__now_s() - began);
}

int penstock__batcher_wait_for(struct penstock__batcher *batcher, struct penstock__ring_batch *batch)
{
    int status = penstock_plan_wait(batcher->plan, batch->ticket);
    batch->state = status ? PENSTOCK__RING_LOST : PENSTOCK__RING_DONE;
    return status ? penstock__failure_keep(&batcher->failure, status) : PENSTOCK_OK;
}

/* `groups` of samples, the next ones, to the batch's results. */
static int submit(struct penstock__batcher *batcher, const void *samples, struct penstock__ring_batch *batch,
                  size_t groups)
{
    const struct penstock_problem *problem = penstock__plan_problem(batcher->plan);
    const size_t frames = groups * batcher->groups.frames;
    int status =
        penstock__plan_submit_turned(batcher->plan, samples, batcher->turn, batch->out, frames, &batch->ticket);
    if (!status && problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.fold)
        batcher->turn = penstock__fft_turn(&problem->fft, batcher->turn, frames);
    return status;
}

static int send(struct penstock__batcher *batcher, struct penstock__ring_batch *batch)
{
    size_t used = batch->items * batcher->groups.step;
    double began = penstock__now_s();
    int status = submit(batcher, batch->in, batch, batch->items);
    if (status)
        return penstock__failure_keep(&batcher->failure, status);
    tell_meter(batcher, batch, began);
    batcher->last_ticket = batch->ticket;
    batcher->carried = batch->in + used * batcher->groups.sample_bytes;
    batcher->carried_samples = batch->samples - used;
    penstock__ring_sent(&batcher->ring);
    return PENSTOCK_OK;
}

int penstock__batcher_commit(struct penstock__batcher *batcher, size_t samples)
{
    struct penstock__ring_batch *batch = penstock__ring_last(&batcher->ring);
    batch->samples += samples;
    count_groups(batcher, batch);
    return batch->items == batcher->capacity || penstock__ring_overdue(batch, batcher->max_latency_s)
               ? send(batcher, batch)
               : PENSTOCK_OK;
}

int penstock__batcher_flush(struct penstock__batcher *batcher)
{
    struct penstock__ring_batch *batch = penstock__ring_last(&batcher->ring);
    bool complete = batch->state == PENSTOCK__RING_FILLING && batch->items;
    return complete && !batcher->failure.status ? send(batcher, batch) : penstock__failure_tell(&batcher->failure);
}

/* ---------------------------------------------------------------- straight -------------------- */

/* `groups` of the caller's samples, and done when this returns: a device that came meanwhile may still read them. */
static int run_straight(struct penstock__batcher *batcher, const char *samples, size_t groups)
{
    struct penstock__ring_batch *batch = penstock__batcher_filling(batcher);
    double began = penstock__now_s();
    int status = submit(batcher, samples, batch, groups);
    if (status || (status = penstock_plan_wait(batcher->plan, batch->ticket)))
        return penstock__failure_keep(&batcher->failure, status);
    batch->items = groups;
    batch->since = began;
    batcher->last_ticket = batch->ticket;
    tell_meter(batcher, batch, began);
    penstock__ring_sent(&batcher->ring);
    batch->state = PENSTOCK__RING_DONE;
    return PENSTOCK_OK;
}

/* The groups that begin in what is held, with samples that follow it; afterwards nothing is held. */
static int close_seam(struct penstock__batcher *batcher, const char *samples, size_t needs)
{
    struct penstock__ring_batch *batch = penstock__batcher_filling(batcher);
    memcpy(batch->in + batch->samples * batcher->groups.sample_bytes, samples, needs * batcher->groups.sample_bytes);
    batch->samples += needs;
    count_groups(batcher, batch);
    int status = send(batcher, batch);
    batcher->carried_samples = 0;
    return status;
}

/* Takes what it can; `*moved`: whether that was anything. */
static int push_straight(struct penstock__batcher *batcher, const char *samples, size_t count, size_t *taken,
                         bool *moved)
{
    const size_t step = batcher->groups.step, span = batcher->groups.span;
    struct penstock__ring_batch *batch = batcher->failure.status ? NULL : penstock__batcher_filling(batcher);
    int status;
    *moved = false;
    if (!batch || count < span || count / batcher->threads < STRAIGHT_SAMPLES)
        return PENSTOCK_OK;
    if (batch->items) {
        *moved = true;
        return send(batcher, batch);
    }
    const size_t held = batch->samples, begun = (held + step - 1) / step; /* groups; `at`: where the next one does */
    const size_t at = begun * step - held, needs = begun ? penstock__groups_samples(&batcher->groups, begun) - held : 0;
    if (begun > batcher->capacity || count < needs + span)
        return PENSTOCK_OK;
    if (begun && (status = close_seam(batcher, samples, needs)))
        return status;
    *taken += at;
    *moved = true;
    if (!penstock__batcher_filling(batcher))
        return PENSTOCK_OK;
    size_t groups = (count - at - span) / step + 1;
    groups = groups < batcher->capacity ? groups : batcher->capacity;
    if (!(status = run_straight(batcher, samples + at * batcher->groups.sample_bytes, groups)))
        *taken += groups * step;
    return status;
}

int penstock__batcher_push(struct penstock__batcher *batcher, const struct penstock__feed *feed, size_t count,
                           size_t *taken)
{
    const bool direct = feed->samples && penstock__plan_is_direct(batcher->plan);
    while (*taken < count) {
        const char *samples =
            feed->samples ? (const char *)feed->samples + *taken * batcher->groups.sample_bytes : NULL;
        size_t some = count - *taken, room;
        bool moved = false;
        void *to;
        int status = direct ? push_straight(batcher, samples, some, taken, &moved) : PENSTOCK_OK;
        if (moved && !status)
            continue;
        if (status || (status = penstock__batcher_room(batcher, &to, &room)) || !room)
            return status;
        some = some < room ? some : room;
        if (samples)
            penstock__copy(batcher->ring.context, to, samples, some * batcher->groups.sample_bytes);
        else
            feed->fill(feed->owner, to, *taken, some);
        *taken += some;
        if ((status = penstock__batcher_commit(batcher, some)))
            return status;
    }
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- out ------------------------- */

int penstock__batcher_ready(struct penstock__batcher *batcher, bool wait, const void **from, size_t *groups)
{
    struct penstock__ring_batch *oldest = penstock__ring_oldest(&batcher->ring);
    struct penstock__ring_batch *last = penstock__ring_last(&batcher->ring);
    bool room = !batcher->failure.status && has_room(batcher);
    int status;
    *from = NULL;
    *groups = 0;
    if (room && last->state == PENSTOCK__RING_FILLING && penstock__ring_overdue(last, batcher->max_latency_s))
        room = !send(batcher, last);
    if (oldest->state == PENSTOCK__RING_SENT &&
        (wait || !room || penstock__ring_overdue(oldest, batcher->max_latency_s)) &&
        (status = penstock__batcher_wait_for(batcher, oldest)))
        return status;
    if (oldest->state != PENSTOCK__RING_DONE)
        return penstock__ring_is_away(oldest) ? PENSTOCK_OK : penstock__failure_tell(&batcher->failure);
    *from = oldest->out + oldest->read * batcher->groups.result_bytes;
    *groups = oldest->items - oldest->read;
    return PENSTOCK_OK;
}

void penstock__batcher_release(struct penstock__batcher *batcher, size_t groups)
{
    penstock__ring_release(&batcher->ring, groups);
}

double penstock__batcher_due_s(const struct penstock__batcher *batcher)
{
    return penstock__ring_due_s(&batcher->ring, batcher->max_latency_s);
}

size_t penstock__batcher_capacity(const struct penstock__batcher *batcher)
{
    return batcher->capacity;
}
