/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A ring of batches. One is being filled, those before it are with the plan, those before them wait to be read. What a
 * batch holds beyond its frames (the overlap with the next frame, and samples of a group that is not complete) is
 * carried to the next batch as soon as that one is free.
 */
#include "core/batcher.h"
#include "core/executor.h"
#include "core/ring.h"

#include <math.h>
#include <string.h>

#define FEW_BATCHES      2              /* where one alone is larger than the caller likes */
#define STRAIGHT_SAMPLES ((size_t)2048) /* for each thread: worth more than it costs to hand them over */

struct penstock__batcher {
    penstock_plan *plan;
    size_t sample_bytes, group_bytes;
    size_t frame, spacing, average;
    size_t capacity; /* groups of a batch */
    size_t max_bytes;
    unsigned threads;
    double max_latency_s;
    struct penstock__ring ring;           /* items are groups, tickets the plan's */
    const struct penstock_device *device; /* that its memory suits */
    const char *carried;                  /* samples for the batch that is filled next, within one that was sent */
    size_t carried_samples;
    uint64_t last_ticket;
    struct penstock__failure failure;
    struct penstock__meter *meter; /* or NULL */
};

static size_t samples_of(const struct penstock__batcher *batcher, size_t groups)
{
    return (groups * batcher->average - 1) * batcher->spacing + batcher->frame;
}

/* ---------------------------------------------------------------- life ------------------------ */

static size_t choose_capacity(const struct penstock__batcher *batcher, size_t best_frames)
{
    size_t each = batcher->average * batcher->spacing * batcher->sample_bytes + batcher->group_bytes;
    size_t once = batcher->frame * batcher->sample_bytes;
    size_t groups = batcher->max_bytes > once ? (batcher->max_bytes - once) / each : 0;
    if (groups > best_frames / batcher->average)
        groups = best_frames / batcher->average;
    return groups ? groups : 1;
}

/* A block to be decoded is one sample. */
static void measure_frames(struct penstock__batcher *batcher, const struct penstock_problem *problem)
{
    const bool blocks = problem->kind == PENSTOCK_PROBLEM_VITERBI || problem->kind == PENSTOCK_PROBLEM_LDPC;
    batcher->sample_bytes = blocks ? problem->in_bytes : penstock_format_bytes(problem->fft.format);
    batcher->frame = blocks ? 1 : penstock__fft_frame(&problem->fft);
    batcher->spacing = blocks ? 1 : problem->fft.spacing;
    batcher->average = blocks ? 1 : problem->fft.average;
}

/* A ring in memory that suits the plan's device, of batches of `*capacity` groups. After an error too, it is to be
 * freed. */
static int make_ring(struct penstock__ring *ring, size_t *capacity, const struct penstock__batcher *batcher)
{
    const size_t batch = penstock__plan_problem(batcher->plan)->batch;
    struct penstock_device *device = penstock__plan_executor(batcher->plan)->state.device;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status = penstock_plan_get_info(batcher->plan, &info);
    if (status)
        return status;
    *capacity = choose_capacity(batcher, info.best_batch > batch ? info.best_batch : batch);
    size_t in_bytes = samples_of(batcher, *capacity) * batcher->sample_bytes;
    size_t out_bytes = *capacity * batcher->group_bytes;
    unsigned each = in_bytes + out_bytes > batcher->max_bytes ? FEW_BATCHES : PENSTOCK__RING_USUAL;
    return penstock__ring_init(ring, device->context, device, penstock__ring_count(device, each), in_bytes, out_bytes);
}

int penstock__batcher_new(struct penstock__batcher **batcher, penstock_plan *plan, size_t max_bytes,
                          double max_latency_s)
{
    const struct penstock_problem *problem = penstock__plan_problem(plan);
    struct penstock__batcher *made = penstock__calloc(1, sizeof *made);
    int status;
    *batcher = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->plan = plan;
    made->max_bytes = max_bytes;
    made->device = penstock__plan_executor(plan)->state.device;
    made->group_bytes = problem->out_bytes;
    measure_frames(made, problem);
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
        memcpy(ring.batches[0].in, batcher->carried, batcher->carried_samples * batcher->sample_bytes);
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
    size_t frames = batch->samples < batcher->frame ? 0 : (batch->samples - batcher->frame) / batcher->spacing + 1;
    size_t groups = frames / batcher->average;
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

/* The batch to fill, with what is carried into it; NULL while there is none. */
static struct penstock__ring_batch *filling(struct penstock__batcher *batcher)
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
        if (batch->samples)
            memcpy(batch->in, batcher->carried, batch->samples * batcher->sample_bytes);
        batcher->carried_samples = 0;
    }
    return batch;
}

int penstock__batcher_room(struct penstock__batcher *batcher, void **to, size_t *samples)
{
    struct penstock__ring_batch *batch = batcher->failure.status ? NULL : filling(batcher);
    *samples = batch ? samples_of(batcher, batcher->capacity) - batch->samples : 0;
    *to = batch ? batch->in + batch->samples * batcher->sample_bytes : NULL;
    return penstock__failure_tell(&batcher->failure);
}

/* A device without a clock computes within the submission. */
static void tell_meter(struct penstock__batcher *batcher, const struct penstock__ring_batch *batch, double began)
{
    bool clock = penstock__plan_has_clock(batcher->plan);
    if (batcher->meter)
        penstock__meter_batch(batcher->meter, batch->items, clock ? 0 : penstock__now_s() - began);
}

static int send(struct penstock__batcher *batcher, struct penstock__ring_batch *batch)
{
    size_t frames = batch->items * batcher->average, used = frames * batcher->spacing;
    double began = penstock__now_s();
    int status = penstock_plan_submit(batcher->plan, batch->in, batch->out, frames, &batch->ticket);
    if (status)
        return penstock__failure_keep(&batcher->failure, status);
    tell_meter(batcher, batch, began);
    batcher->last_ticket = batch->ticket;
    batcher->carried = batch->in + used * batcher->sample_bytes;
    batcher->carried_samples = batch->samples - used;
    penstock__ring_sent(&batcher->ring);
    return PENSTOCK_OK;
}

static bool overdue(const struct penstock__batcher *batcher, const struct penstock__ring_batch *batch)
{
    return penstock__ring_overdue(batch, batcher->max_latency_s);
}

int penstock__batcher_commit(struct penstock__batcher *batcher, size_t samples)
{
    struct penstock__ring_batch *batch = penstock__ring_last(&batcher->ring);
    batch->samples += samples;
    count_groups(batcher, batch);
    return batch->items == batcher->capacity || overdue(batcher, batch) ? send(batcher, batch) : PENSTOCK_OK;
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
    struct penstock__ring_batch *batch = filling(batcher);
    double began = penstock__now_s();
    int status =
        penstock_plan_submit(batcher->plan, samples, batch->out, groups * batcher->average, &batcher->last_ticket);
    if (status || (status = penstock_plan_wait(batcher->plan, batcher->last_ticket)))
        return penstock__failure_keep(&batcher->failure, status);
    batch->items = groups;
    batch->since = began;
    batch->ticket = batcher->last_ticket;
    tell_meter(batcher, batch, began);
    penstock__ring_sent(&batcher->ring);
    batch->state = PENSTOCK__RING_DONE;
    return PENSTOCK_OK;
}

/* The groups that begin in what is held, with samples that follow it; afterwards nothing is held, and the next group
 * begins at sample `*at` of these. */
static int close_seam(struct penstock__batcher *batcher, const char *samples, size_t needs, size_t *at)
{
    struct penstock__ring_batch *batch = filling(batcher);
    const size_t held = batch->samples, step = batcher->average * batcher->spacing;
    *at = (held + step - 1) / step * step - held;
    memcpy(batch->in + held * batcher->sample_bytes, samples, needs * batcher->sample_bytes);
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
    const size_t step = batcher->average * batcher->spacing, span = samples_of(batcher, 1);
    struct penstock__ring_batch *batch = batcher->failure.status ? NULL : filling(batcher);
    size_t at = 0, begun = 0, needs = 0;
    int status = PENSTOCK_OK;
    *moved = false;
    if (!batch || count < span || count / batcher->threads < STRAIGHT_SAMPLES)
        return PENSTOCK_OK;
    if (batch->items) {
        *moved = true;
        return send(batcher, batch);
    }
    if (batch->samples) {
        begun = (batch->samples + step - 1) / step;
        needs = (begun - 1) * step + span - batch->samples;
    }
    if (begun > batcher->capacity || count < needs + span)
        return PENSTOCK_OK;
    if (begun && (status = close_seam(batcher, samples, needs, &at)))
        return status;
    *taken += at;
    *moved = true;
    if (!filling(batcher))
        return PENSTOCK_OK;
    size_t groups = (count - at - span) / step + 1;
    groups = groups < batcher->capacity ? groups : batcher->capacity;
    if (!(status = run_straight(batcher, samples + at * batcher->sample_bytes, groups)))
        *taken += groups * step;
    return status;
}

int penstock__batcher_push(struct penstock__batcher *batcher, const struct penstock__feed *feed, size_t count,
                           size_t *taken)
{
    const bool direct = feed->samples && penstock__plan_is_direct(batcher->plan);
    while (*taken < count) {
        const char *samples = feed->samples ? (const char *)feed->samples + *taken * batcher->sample_bytes : NULL;
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
            penstock__copy(batcher->ring.context, to, samples, some * batcher->sample_bytes);
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
    if (room && last->state == PENSTOCK__RING_FILLING && overdue(batcher, last))
        room = !send(batcher, last);
    if (oldest->state == PENSTOCK__RING_SENT && (wait || !room || overdue(batcher, oldest))) {
        status = penstock_plan_wait(batcher->plan, oldest->ticket);
        oldest->state = status ? PENSTOCK__RING_LOST : PENSTOCK__RING_DONE;
        if (status)
            return penstock__failure_keep(&batcher->failure, status);
    }
    if (oldest->state != PENSTOCK__RING_DONE)
        return oldest->state == PENSTOCK__RING_SENT ? PENSTOCK_OK : penstock__failure_tell(&batcher->failure);
    *from = oldest->out + oldest->read * batcher->group_bytes;
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

/* ---------------------------------------------------------------- changes --------------------- */

void penstock__batcher_set_plan(struct penstock__batcher *batcher, penstock_plan *plan)
{
    penstock__batcher_flush(batcher); /* a failure is kept, as is that of a wait */
    struct penstock__ring *ring = &batcher->ring;
    for (unsigned i = 0; i < ring->count; i++) {
        struct penstock__ring_batch *batch = &ring->batches[(ring->oldest + i) % ring->count];
        if (batch->state != PENSTOCK__RING_SENT)
            continue;
        int status = penstock_plan_wait(batcher->plan, batch->ticket);
        batch->state = status ? PENSTOCK__RING_LOST : PENSTOCK__RING_DONE;
        if (status)
            penstock__failure_keep(&batcher->failure, status);
    }
    batcher->plan = plan;
    batcher->last_ticket = 0;
    if (batcher->meter)
        penstock__plan_set_event_times(plan, &batcher->meter->event_times);
}

size_t penstock__batcher_held(const struct penstock__batcher *batcher)
{
    const struct penstock__ring *ring = &batcher->ring;
    const struct penstock__ring_batch *last = &ring->batches[ring->filling];
    bool more = batcher->failure.status || ring->oldest != ring->filling || last->state == PENSTOCK__RING_SENT ||
                last->state == PENSTOCK__RING_DONE || last->state == PENSTOCK__RING_LOST ||
                (last->state == PENSTOCK__RING_FILLING && last->items);
    return more ? SIZE_MAX : last->state == PENSTOCK__RING_FREE ? batcher->carried_samples : last->samples;
}

void penstock__batcher_drop_held(struct penstock__batcher *batcher, size_t samples)
{
    struct penstock__ring_batch *last = filling(batcher); /* what was carried is in it */
    if (!last) {
        batcher->carried += samples * batcher->sample_bytes;
        batcher->carried_samples -= samples;
        return;
    }
    last->samples -= samples;
    memmove(last->in, last->in + samples * batcher->sample_bytes, last->samples * batcher->sample_bytes);
}
