/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams that are a plan fed batch by batch. */
#include "core/stream/batched.h"
#include "core/base/description.h"
#include "core/stream/groups.h"
#include "core/stream/stream_device.h"

#include <string.h>

static const struct penstock__batched *const_of(const penstock_stream *stream)
{
    return (const struct penstock__batched *)(const void *)stream;
}

static const struct penstock__batched_kind *kind_of(const struct penstock__batched *batched)
{
    return (const struct penstock__batched_kind *)(const void *)batched->stream.kind;
}

/* ---------------------------------------------------------------- life ------------------------ */

static int make(struct penstock__batched *batched, const char *device)
{
    const struct penstock__batched_kind *kind = kind_of(batched);
    int status;
    if (device && !(batched->device = penstock__strdup(device)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = kind->make(batched)))
        return status;
    if (!(batched->max_latency_s >= 0))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: max_latency_s is %g, not 0 or more", kind->calls.name,
                               batched->max_latency_s);
    if ((status = kind->plan(batched, &batched->plan)) ||
        (status =
             penstock__batcher_new(&batched->batcher, batched->plan, PENSTOCK__BATCH_BYTES, batched->max_latency_s)))
        return status;
    penstock__batcher_set_meter(batched->batcher, &batched->stream.meter);
    if (kind->forget)
        kind->forget(batched);
    return PENSTOCK_OK;
}

int penstock__batched_open(penstock_stream **stream, penstock_context *context, const void *desc, const char *device,
                           const struct penstock__batched_kind *kind)
{
    struct penstock__batched *made;
    int status;
    if (!stream || !context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: stream or context is NULL", kind->calls.name);
    *stream = NULL;
    if (!(made = penstock__calloc(1, kind->bytes)))
        return PENSTOCK_ERR_MEMORY;
    void *kept = (char *)made + kind->desc_at;
    made->stream = (struct penstock_stream){.kind = &kind->calls, .context = context};
    made->unit = 1;
    if ((status = penstock__description_read(kept, kind->desc_bytes, desc, kind->desc_name)) ||
        (status = kind->check(kept)) || (status = make(made, device))) {
        penstock__batched_free(&made->stream);
        return status;
    }
    penstock__stream_start(&made->stream);
    if (kind->reset)
        kind->reset(made);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

void penstock__batched_cancel(penstock_stream *stream)
{
    struct penstock__batched *batched = penstock__batched_of(stream);
    penstock__plan_cancel(batched->plan);
    if (kind_of(batched)->cancel)
        kind_of(batched)->cancel(batched);
}

void penstock__batched_free(penstock_stream *stream)
{
    struct penstock__batched *batched = penstock__batched_of(stream);
    penstock__batcher_free(batched->batcher);
    penstock__plan_free(batched->plan);
    if (kind_of(batched)->free)
        kind_of(batched)->free(batched);
    penstock__free(batched->device);
    penstock__free(batched);
}

void penstock__batched_reset(penstock_stream *stream)
{
    struct penstock__batched *batched = penstock__batched_of(stream);
    penstock__batcher_reset(batched->batcher);
    if (kind_of(batched)->reset)
        kind_of(batched)->reset(batched);
}

void penstock__batched_change(struct penstock__batched *batched, penstock_plan *next)
{
    penstock__batcher_set_plan(batched->batcher, next);
    batched->fallbacks += penstock__plan_fallbacks(batched->plan);
    batched->cpu_while_compiling += penstock__plan_cpu_while_compiling(batched->plan);
    penstock__plan_free(batched->plan);
    batched->plan = next;
}

int penstock__batched_set_max_latency(penstock_stream *stream, double max_latency_s)
{
    penstock__batcher_set_latency(penstock__batched_of(stream)->batcher, max_latency_s);
    return PENSTOCK_OK;
}

int penstock__batched_flush(penstock_stream *stream)
{
    return penstock__batcher_flush(penstock__batched_of(stream)->batcher);
}

int penstock__batched_finish(penstock_stream *stream)
{
    stream->finished = true;
    return penstock__batched_flush(stream);
}

/* ---------------------------------------------------------------- what is known --------------- */

double penstock__batched_due_s(const penstock_stream *stream)
{
    return penstock__batcher_due_s(const_of(stream)->batcher);
}

void penstock__batched_get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    penstock_plan_get_info(const_of(stream)->plan, &plan);
    info->device = plan.device;
    info->batch = penstock__batcher_capacity(const_of(stream)->batcher);
}

void penstock__batched_get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct penstock__batched *batched = const_of(stream);
    stats->fallbacks = batched->fallbacks + penstock__plan_fallbacks(batched->plan);
    stats->cpu_while_compiling = batched->cpu_while_compiling + penstock__plan_cpu_while_compiling(batched->plan);
}

/* ---------------------------------------------------------------- in -------------------------- */

struct push {
    const struct penstock__batched *batched;
    const struct penstock__items *in;
};

static void fill(const void *owner, void *to, size_t first, size_t count)
{
    const struct push *push = owner;
    const size_t unit = push->batched->unit;
    kind_of(push->batched)->fill(push->batched, push->in, to, first / unit, count / unit);
}

int penstock__batched_push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    struct penstock__batched *batched = penstock__batched_of(stream);
    const struct penstock__batched_kind *kind = kind_of(batched);
    const struct push push = {batched, in};
    const struct penstock__feed feed = {
        .samples = kind->ready ? kind->ready(batched, in) : in->whole, .fill = fill, .owner = &push};
    size_t samples = *taken * batched->unit;
    int status = penstock__batcher_push(batched->batcher, &feed, count * batched->unit, &samples);
    *taken = samples / batched->unit;
    return status;
}

int penstock__batched_acquire(penstock_stream *stream, void **to, size_t *room)
{
    struct penstock__batched *batched = penstock__batched_of(stream);
    int status = penstock__batcher_room(batched->batcher, to, room);
    *room /= batched->unit;
    return status;
}

int penstock__batched_commit(penstock_stream *stream, size_t count)
{
    struct penstock__batched *batched = penstock__batched_of(stream);
    return penstock__batcher_commit(batched->batcher, count * batched->unit);
}

/* ---------------------------------------------------------------- out ------------------------- */

int penstock__batched_peek(penstock_stream *stream, bool wait, const void **from, size_t *count)
{
    struct penstock__batcher *batcher = penstock__batched_of(stream)->batcher;
    if (stream->finished)
        penstock__batcher_flush(batcher); /* the batcher keeps a failure until its turn comes */
    return penstock__batcher_ready(batcher, wait || stream->finished, from, count);
}

void penstock__batched_release(penstock_stream *stream, size_t count)
{
    penstock__batcher_release(penstock__batched_of(stream)->batcher, count);
    penstock__stream_gave(stream, count, stream->given + 1, 1);
}

static int give(struct penstock__batched *batched, char *items, size_t capacity, bool wait, size_t *count)
{
    const struct penstock__batched_kind *kind = kind_of(batched);
    while (*count < capacity) {
        char *to = items + *count * batched->stream.out_bytes;
        const void *from;
        size_t some = 0;
        int status = penstock__batched_peek(&batched->stream, wait, &from, &some);
        if (status)
            return *count ? PENSTOCK_OK : status;
        if (!some)
            break;
        some = some < capacity - *count ? some : capacity - *count;
        if (kind->give)
            kind->give(batched, to, from, some);
        else
            penstock__copy(batched->stream.context, to, from, some * batched->stream.out_bytes);
        penstock__batcher_release(batched->batcher, some);
        *count += some;
    }
    return PENSTOCK_OK;
}

int penstock__batched_pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait,
                           size_t *count)
{
    int status = give(penstock__batched_of(stream), out->whole, capacity, wait, count);
    penstock__stream_gave(stream, *count, stream->given + 1, 1);
    return status;
}

/* ---------------------------------------------------------------- both ------------------------ */

/* What waits in the batcher comes first; a device that computes within the call makes nobody wait for it. */
static int run_held(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                    const struct penstock__room *out, size_t capacity, size_t *given)
{
    const struct penstock__batched *batched = const_of(stream);
    const bool direct = penstock__plan_is_direct(batched->plan);
    const struct penstock__items items = {.whole = in};
    int pushed = count ? penstock__stream_take(stream, &items, count, taken) : PENSTOCK_OK;
    if (direct)
        penstock__batcher_flush(batched->batcher);
    int status = penstock__batched_pull(stream, out, capacity, direct, given);
    return status || *given ? status : pushed;
}

int penstock__batched_run(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                          const struct penstock__room *out, size_t capacity, size_t *given)
{
    struct penstock__batched *batched = penstock__batched_of(stream);
    const size_t some = count < capacity ? count : capacity;
    int status;
    if (stream->finished || !penstock__plan_is_direct(batched->plan) || penstock__batcher_held(batched->batcher))
        return run_held(stream, in, count, taken, out, capacity, given);
    if (!some)
        return PENSTOCK_OK;
    double began = penstock__now_s();
    const struct penstock__batched_kind *kind = kind_of(batched);
    status = kind->straight ? kind->straight(batched, in, some, out->whole)
                            : penstock_plan_run(batched->plan, in, out->whole, some);
    if (status)
        return status;
    *taken = *given = some;
    stream->taken += some;
    stream->given += some;
    penstock__meter_straight(&stream->meter, some, some, began, penstock__now_s());
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- on the device --------------- */

struct penstock__batcher *penstock__batched_device_batcher(penstock_stream *stream)
{
    return stream->lends_in ? penstock__batched_of(stream)->batcher : NULL;
}

static int put(penstock_stream *stream, uint64_t first, size_t groups, const penstock_buffer *in, penstock_buffer *out,
               penstock_queue *queue)
{
    struct penstock__batched *batched = penstock__batched_of(stream);
    const size_t frames = groups * penstock__problem_average(penstock__plan_problem(batched->plan));
    (void)first;
    return penstock_plan_enqueue(batched->plan, in, out, frames, queue);
}

int penstock__batched_device_work(penstock_stream *stream, struct penstock__device_work *work)
{
    const struct penstock__batched *batched = const_of(stream);
    const struct penstock__groups groups = penstock__groups_of(penstock__plan_problem(batched->plan));
    if (!stream->lends_in || !stream->lends_out)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "%s: what this one takes and gives is not what its device works on", stream->kind->name);
    *work = (struct penstock__device_work){.samples = stream->in_bytes / groups.sample_bytes,
                                           .sample_bytes = groups.sample_bytes,
                                           .result_bytes = groups.result_bytes,
                                           .step = groups.step,
                                           .span = groups.span,
                                           .results = 1,
                                           .put = put};
    return PENSTOCK_OK;
}
