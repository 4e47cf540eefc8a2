/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A ring of batches. One is being filled, those before it are with the plan, those before them wait to be read. What a
 * batch holds beyond its frames (the overlap with the next frame, and samples of a group that is not complete) is
 * carried to the next batch as soon as that one is free.
 */
#include "core/batcher.h"
#include "core/binding.h"
#include "core/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <penstock/resident.h>

#define MAX_BATCHES 4
#define FEW_BATCHES 2 /* where one alone is larger than the caller likes */

enum state { FREE, FILLING, SENT, DONE, LOST };

struct batch {
    enum state state;
    char *in, *out;
    size_t samples; /* written */
    size_t groups;  /* sent, or complete while filling */
    size_t read;    /* groups released */
    uint64_t ticket;
    double since; /* when the first group was complete, in seconds */
};

struct penstock__batcher {
    penstock_plan *plan;
    penstock_context *context;
    size_t sample_bytes, group_bytes;
    size_t frame, spacing, average;
    size_t capacity; /* groups of a batch */
    double max_latency_s;
    struct batch batches[MAX_BATCHES];
    unsigned count, filling, oldest;
    const char *carried; /* samples for the batch that is filled next, within one that was sent */
    size_t carried_samples;
    uint64_t last_ticket;
    int failure;
    char failure_text[512];
    struct penstock__meter *meter; /* or NULL */
    double transfer_s, kernel_s;   /* of a full batch on a device that is not direct */
};

static size_t samples_of(const struct penstock__batcher *batcher, size_t groups)
{
    return (groups * batcher->average - 1) * batcher->spacing + batcher->frame;
}

/* ---------------------------------------------------------------- life ------------------------ */

static size_t choose_capacity(const struct penstock__batcher *batcher, size_t best_frames, size_t max_bytes)
{
    size_t each = batcher->average * batcher->spacing * batcher->sample_bytes + batcher->group_bytes;
    size_t once = batcher->frame * batcher->sample_bytes;
    size_t groups = max_bytes > once ? (max_bytes - once) / each : 0;
    if (groups > best_frames / batcher->average)
        groups = best_frames / batcher->average;
    return groups ? groups : 1;
}

static size_t bytes_of(const struct penstock__batcher *batcher)
{
    return samples_of(batcher, batcher->capacity) * batcher->sample_bytes + batcher->capacity * batcher->group_bytes;
}

/* What the plan's device reaches by itself. */
static int host_memory(char **memory, const penstock_plan *plan, size_t bytes)
{
    struct penstock_device *device = penstock__plan_binding(plan)->state.device;
    void *made;
    int status = penstock__host_block_new(&made, device->context, device, bytes);
    *memory = made;
    return status;
}

int penstock__batcher_new(struct penstock__batcher **batcher, penstock_plan *plan, size_t max_bytes,
                          double max_latency_s)
{
    const struct penstock_problem *problem = penstock__plan_problem(plan);
    struct penstock__batcher *made = penstock__calloc(1, sizeof *made);
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status;
    *batcher = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->plan = plan;
    made->context = penstock__plan_binding(plan)->state.device->context;
    made->sample_bytes = penstock_format_bytes(problem->fft.format);
    made->group_bytes = problem->out_bytes;
    made->frame = penstock__fft_in_count(&problem->fft);
    made->spacing = problem->fft.spacing;
    made->average = problem->fft.average;
    made->max_latency_s = max_latency_s;
    if ((status = penstock_plan_get_info(plan, &info)))
        goto fail;
    made->capacity =
        choose_capacity(made, info.best_batch > problem->batch ? info.best_batch : problem->batch, max_bytes);
    made->count = bytes_of(made) > max_bytes ? FEW_BATCHES : MAX_BATCHES;
    for (unsigned i = 0; i < made->count; i++) {
        struct batch *batch = &made->batches[i];
        if ((status = host_memory(&batch->in, plan, samples_of(made, made->capacity) * made->sample_bytes)) ||
            (status = host_memory(&batch->out, plan, made->capacity * made->group_bytes)))
            goto fail;
    }
    made->batches[0].state = FILLING;
    *batcher = made;
    return PENSTOCK_OK;
fail:
    penstock__batcher_free(made);
    return status;
}

/* By the device's own clock, or NAN. */
static double kernel_seconds(const struct penstock__batcher *batcher, const void *in, size_t in_bytes, size_t frames)
{
    penstock_resident *resident;
    double seconds = (double)NAN;
    if (penstock_resident_new(&resident, batcher->plan, in, in_bytes / 16 * 16, frames))
        return seconds;
    if (penstock_resident_run(resident, 1, &seconds) || penstock_resident_run(resident, 1, &seconds))
        seconds = (double)NAN; /* the first one was to warm up */
    penstock_resident_free(resident);
    return seconds;
}

void penstock__batcher_set_meter(struct penstock__batcher *batcher, struct penstock__meter *meter)
{
    struct batch *batch = &batcher->batches[0];
    size_t bytes = samples_of(batcher, batcher->capacity) * batcher->sample_bytes,
           frames = batcher->capacity * batcher->average;
    double before, all_s;
    batcher->meter = meter;
    batcher->transfer_s = batcher->kernel_s = (double)NAN;
    if (!penstock__plan_has_clock(batcher->plan))
        return;
    memset(batch->in, 0, bytes);
    if (penstock_plan_run(batcher->plan, batch->in, batch->out, frames))
        return;
    before = penstock__now_s();
    if (penstock_plan_run(batcher->plan, batch->in, batch->out, frames))
        return;
    all_s = penstock__now_s() - before;
    if (penstock__binding_in_host_memory(penstock__plan_binding(batcher->plan))) {
        batcher->kernel_s = all_s;
        batcher->transfer_s = 0;
    } else {
        batcher->kernel_s = kernel_seconds(batcher, batch->in, bytes, frames);
        batcher->transfer_s = batcher->kernel_s > all_s ? 0 : all_s - batcher->kernel_s;
    }
}

void penstock__batcher_set_latency(struct penstock__batcher *batcher, double max_latency_s)
{
    batcher->max_latency_s = max_latency_s;
}

void penstock__batcher_reset(struct penstock__batcher *batcher)
{
    penstock_plan_wait(batcher->plan, batcher->last_ticket); /* a failure is forgotten with the rest */
    for (unsigned i = 0; i < batcher->count; i++) {
        struct batch *batch = &batcher->batches[i];
        batch->state = FREE;
        batch->samples = batch->groups = batch->read = 0;
    }
    batcher->batches[0].state = FILLING;
    batcher->filling = batcher->oldest = 0;
    batcher->carried = NULL;
    batcher->carried_samples = 0;
    batcher->failure = PENSTOCK_OK;
}

void penstock__batcher_free(struct penstock__batcher *batcher)
{
    if (!batcher)
        return;
    penstock_plan_wait(batcher->plan, batcher->last_ticket);
    for (unsigned i = 0; i < batcher->count; i++) {
        penstock_host_memory_free(batcher->context, batcher->batches[i].in);
        penstock_host_memory_free(batcher->context, batcher->batches[i].out);
    }
    penstock__free(batcher);
}

/* ---------------------------------------------------------------- in -------------------------- */

static void count_groups(struct penstock__batcher *batcher, struct batch *batch)
{
    size_t frames = batch->samples < batcher->frame ? 0 : (batch->samples - batcher->frame) / batcher->spacing + 1;
    size_t groups = frames / batcher->average;
    if (groups && !batch->groups)
        batch->since = penstock__now_s();
    batch->groups = groups;
}

/* The batch to fill, with what is carried into it; NULL while there is none. */
static struct batch *filling(struct penstock__batcher *batcher)
{
    struct batch *batch = &batcher->batches[batcher->filling];
    if (batch->state == FREE) {
        batch->state = FILLING;
        batch->samples = batcher->carried_samples;
        batch->groups = batch->read = 0;
        if (batch->samples)
            memcpy(batch->in, batcher->carried, batch->samples * batcher->sample_bytes);
        batcher->carried_samples = 0;
    }
    return batch->state == FILLING ? batch : NULL;
}

static int fail(struct penstock__batcher *batcher, int status)
{
    batcher->failure = status;
    snprintf(batcher->failure_text, sizeof batcher->failure_text, "%s", penstock_error_text());
    return status;
}

static int failure(const struct penstock__batcher *batcher)
{
    return batcher->failure ? penstock__error(batcher->failure, "%s", batcher->failure_text) : PENSTOCK_OK;
}

int penstock__batcher_room(struct penstock__batcher *batcher, void **to, size_t *samples)
{
    struct batch *batch = batcher->failure ? NULL : filling(batcher);
    *samples = batch ? samples_of(batcher, batcher->capacity) - batch->samples : 0;
    *to = batch ? batch->in + batch->samples * batcher->sample_bytes : NULL;
    return failure(batcher);
}

/* A processor computes within the submission. */
static void tell_meter(struct penstock__batcher *batcher, const struct batch *batch, double began)
{
    double share = (double)batch->groups / (double)batcher->capacity;
    if (!batcher->meter)
        return;
    if (penstock__plan_is_direct(batcher->plan))
        penstock__meter_batch(batcher->meter, batch->groups, 0, penstock__now_s() - began);
    else
        penstock__meter_batch(batcher->meter, batch->groups, share * batcher->transfer_s, share * batcher->kernel_s);
}

static int send(struct penstock__batcher *batcher, struct batch *batch)
{
    size_t frames = batch->groups * batcher->average, used = frames * batcher->spacing;
    double began = penstock__now_s();
    int status = penstock_plan_submit(batcher->plan, batch->in, batch->out, frames, &batch->ticket);
    if (status)
        return fail(batcher, status);
    tell_meter(batcher, batch, began);
    batcher->last_ticket = batch->ticket;
    batch->state = SENT;
    batcher->carried = batch->in + used * batcher->sample_bytes;
    batcher->carried_samples = batch->samples - used;
    batcher->filling = (batcher->filling + 1) % batcher->count;
    return PENSTOCK_OK;
}

static bool overdue(const struct penstock__batcher *batcher, const struct batch *batch)
{
    return batcher->max_latency_s > 0 && batch->groups && penstock__now_s() - batch->since >= batcher->max_latency_s;
}

int penstock__batcher_commit(struct penstock__batcher *batcher, size_t samples)
{
    struct batch *batch = &batcher->batches[batcher->filling];
    batch->samples += samples;
    count_groups(batcher, batch);
    return batch->groups == batcher->capacity || overdue(batcher, batch) ? send(batcher, batch) : PENSTOCK_OK;
}

int penstock__batcher_flush(struct penstock__batcher *batcher)
{
    struct batch *batch = batcher->failure ? NULL : filling(batcher);
    return batch && batch->groups ? send(batcher, batch) : failure(batcher);
}

/* ---------------------------------------------------------------- out ------------------------- */

int penstock__batcher_ready(struct penstock__batcher *batcher, bool wait, const void **from, size_t *groups)
{
    struct batch *oldest = &batcher->batches[batcher->oldest], *last = batcher->failure ? NULL : filling(batcher);
    int status;
    *from = NULL;
    *groups = 0;
    if (last && overdue(batcher, last) && (status = send(batcher, last)))
        last = NULL;
    if (oldest->state == SENT && (wait || !last || overdue(batcher, oldest))) {
        status = penstock_plan_wait(batcher->plan, oldest->ticket);
        oldest->state = status ? LOST : DONE;
        if (status)
            return fail(batcher, status);
    }
    if (oldest->state != DONE)
        return oldest->state == SENT ? PENSTOCK_OK : failure(batcher);
    *from = oldest->out + oldest->read * batcher->group_bytes;
    *groups = oldest->groups - oldest->read;
    return PENSTOCK_OK;
}

void penstock__batcher_release(struct penstock__batcher *batcher, size_t groups)
{
    struct batch *oldest = &batcher->batches[batcher->oldest];
    oldest->read += groups;
    if (oldest->read == oldest->groups) {
        oldest->state = FREE;
        batcher->oldest = (batcher->oldest + 1) % batcher->count;
    }
}

double penstock__batcher_due_s(const struct penstock__batcher *batcher)
{
    const struct batch *oldest = &batcher->batches[batcher->oldest];
    if (oldest->state == DONE || oldest->state == LOST)
        return 0;
    if (batcher->max_latency_s <= 0 || oldest->state == FREE || !oldest->groups)
        return (double)INFINITY;
    double left = oldest->since + batcher->max_latency_s - penstock__now_s();
    return left > 0 ? left : 0;
}

size_t penstock__batcher_capacity(const struct penstock__batcher *batcher)
{
    return batcher->capacity;
}

/* ---------------------------------------------------------------- changes --------------------- */

void penstock__batcher_set_plan(struct penstock__batcher *batcher, penstock_plan *plan)
{
    penstock__batcher_flush(batcher); /* a failure is kept, as is that of a wait */
    for (unsigned i = 0; i < batcher->count; i++) {
        struct batch *batch = &batcher->batches[(batcher->oldest + i) % batcher->count];
        if (batch->state != SENT)
            continue;
        int status = penstock_plan_wait(batcher->plan, batch->ticket);
        batch->state = status ? LOST : DONE;
        if (status)
            fail(batcher, status);
    }
    batcher->plan = plan;
    batcher->last_ticket = 0;
}

size_t penstock__batcher_held(const struct penstock__batcher *batcher)
{
    const struct batch *last = &batcher->batches[batcher->filling];
    bool more = batcher->failure || batcher->oldest != batcher->filling || last->state == SENT || last->state == DONE ||
                last->state == LOST || (last->state == FILLING && last->groups);
    return more ? SIZE_MAX : last->state == FREE ? batcher->carried_samples : last->samples;
}

void penstock__batcher_drop_held(struct penstock__batcher *batcher)
{
    struct batch *last = &batcher->batches[batcher->filling];
    batcher->carried_samples = 0;
    if (last->state == FILLING)
        last->samples = 0;
}
