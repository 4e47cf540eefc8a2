/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A stream of vectors through a batched FFT plan and a batcher; or straight through the plan, where batches bring
 * nothing. Another window is another plan.
 */
#include "core/batcher.h"
#include "core/description.h"
#include "core/rest.h"
#include "ops/fft_layout.h"

#include <math.h>
#include <string.h>

#define BATCH_BYTES ((size_t)8 << 20)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "fft stream: " __VA_ARGS__)

struct penstock_fft_stream {
    penstock_fft_stream_desc desc; /* its window is not kept */
    penstock_context *context;
    char *device; /* as it was asked for */
    struct penstock__fft_layout layout;
    penstock_plan *plan;
    struct penstock__batcher *batcher;
    uint64_t pushed, pulled;
    uint64_t fallbacks, meanwhile; /* of plans that are gone */
    bool finished;
    struct penstock__meter meter;
};

/* ---------------------------------------------------------------- life ------------------------ */

static int make_plan(penstock_fft_stream *stream, penstock_plan **plan, const float *factors)
{
    const penstock_fft_stream_desc *d = &stream->desc;
    float *window = NULL;
    if (factors) {
        if (!(window = penstock__alloc(d->n * sizeof *window)))
            return PENSTOCK_ERR_MEMORY;
        penstock__fft_layout_rotate(&stream->layout, window, factors, sizeof *window);
    }
    int status = penstock_fft_plan(
        plan, stream->context,
        &PENSTOCK_FFT_DESC(.n = d->n, .direction = d->real ? PENSTOCK_FORWARD : d->direction,
                           .domain = d->real ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                           .load = {.format = d->real ? PENSTOCK_F32 : PENSTOCK_CF32, .window = window},
                           .store = {.centered = d->centered && d->direction == PENSTOCK_FORWARD && !d->real}),
        stream->device);
    penstock__free(window);
    return status;
}

static int check(const penstock_fft_stream_desc *desc)
{
    if (desc->n < 1 || desc->n > (size_t)1 << 23)
        return bad("n is %zu, not 1 .. %zu", desc->n, (size_t)1 << 23);
    if (desc->direction != PENSTOCK_FORWARD && desc->direction != PENSTOCK_REVERSE)
        return bad("direction %d is neither forward nor reverse", (int)desc->direction);
    if (!(desc->max_latency_s >= 0))
        return bad("max_latency_s is %g, not 0 or more", desc->max_latency_s);
    return PENSTOCK_OK;
}

int penstock_fft_stream_new(penstock_fft_stream **stream, penstock_context *context,
                            const penstock_fft_stream_desc *desc, const char *device)
{
    penstock_fft_stream_desc d;
    penstock_fft_stream *made;
    int status;
    if (!stream || !context)
        return bad("penstock_fft_stream_new: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_fft_stream_desc")) || (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    made->desc.window = NULL;
    made->context = context;
    penstock__fft_layout_init(&made->layout, context, &d);
    status = PENSTOCK_ERR_MEMORY;
    if ((device && !(made->device = penstock__strdup(device))) || (status = make_plan(made, &made->plan, d.window)) ||
        (status = penstock__batcher_new(&made->batcher, made->plan, BATCH_BYTES, d.max_latency_s))) {
        penstock_fft_stream_free(made);
        return status;
    }
    penstock__batcher_set_meter(made->batcher, &made->meter);
    penstock__meter_start(&made->meter, penstock__now_s());
    *stream = made;
    return PENSTOCK_OK;
}

void penstock_fft_stream_free(penstock_fft_stream *stream)
{
    if (!stream)
        return;
    penstock__batcher_free(stream->batcher);
    penstock_plan_free(stream->plan);
    penstock__fft_layout_free(&stream->layout);
    penstock__free(stream->device);
    penstock__free(stream);
}

int penstock_fft_stream_reset(penstock_fft_stream *stream)
{
    if (!stream)
        return bad("penstock_fft_stream_reset: stream is NULL");
    penstock__batcher_reset(stream->batcher);
    penstock__meter_start(&stream->meter, penstock__now_s());
    stream->pushed = stream->pulled = 0;
    stream->finished = false;
    return PENSTOCK_OK;
}

int penstock_fft_stream_set_window(penstock_fft_stream *stream, const float *window)
{
    penstock_plan *next;
    int status;
    if (!stream)
        return bad("penstock_fft_stream_set_window: stream is NULL");
    if ((status = make_plan(stream, &next, window)))
        return status;
    penstock__batcher_set_plan(stream->batcher, next);
    stream->fallbacks += penstock__plan_fallbacks(stream->plan);
    stream->meanwhile += penstock__plan_meanwhile(stream->plan);
    penstock_plan_free(stream->plan);
    stream->plan = next;
    return PENSTOCK_OK;
}

int penstock_fft_stream_set_max_latency(penstock_fft_stream *stream, double max_latency_s)
{
    if (!stream || !(max_latency_s >= 0))
        return bad("penstock_fft_stream_set_max_latency: stream is NULL, or %g is not 0 or more", max_latency_s);
    stream->desc.max_latency_s = max_latency_s;
    penstock__batcher_set_latency(stream->batcher, max_latency_s);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- what is known --------------- */

const char *penstock_fft_stream_device(const penstock_fft_stream *stream)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    return stream && !penstock_plan_get_info(stream->plan, &info) ? info.device : NULL;
}

static uint64_t fallbacks(const penstock_fft_stream *stream)
{
    return stream->fallbacks + penstock__plan_fallbacks(stream->plan);
}

int penstock_fft_stream_get_counters(const penstock_fft_stream *stream, penstock_fft_stream_counters *counters)
{
    if (!stream)
        return bad("penstock_fft_stream_get_counters: stream is NULL");
    penstock_fft_stream_counters now = {.size = sizeof now,
                                        .pushed = stream->pushed,
                                        .pulled = stream->pulled,
                                        .fallbacks = fallbacks(stream),
                                        .batch = penstock__batcher_capacity(stream->batcher)};
    return penstock__description_write(counters, &now, sizeof now, "penstock_fft_stream_counters");
}

int penstock_fft_stream_get_stats(const penstock_fft_stream *stream, penstock_stream_stats *stats)
{
    penstock_stream_stats now = PENSTOCK_STREAM_STATS;
    if (!stream)
        return bad("penstock_fft_stream_get_stats: stream is NULL");
    penstock__meter_read(&stream->meter, &now, penstock__now_s());
    now.fallbacks = fallbacks(stream);
    now.meanwhile = stream->meanwhile + penstock__plan_meanwhile(stream->plan);
    return penstock__description_write(stats, &now, sizeof now, "penstock_stream_stats");
}

/* ---------------------------------------------------------------- vectors in and out ---------- */

static int push(penstock_fft_stream *stream, const char *vectors, size_t count, size_t *taken)
{
    const size_t n = stream->desc.n, bytes = n * stream->layout.in_bytes;
    struct penstock__batcher *batcher = stream->batcher;
    while (*taken < count) {
        size_t some = count - *taken, room;
        void *to;
        int status;
        if ((status = penstock__batcher_room(batcher, &to, &room)) || !room)
            return status;
        some = some < room / n ? some : room / n;
        penstock__fft_layout_in(&stream->layout, to, vectors + *taken * bytes, some);
        *taken += some;
        if ((status = penstock__batcher_commit(batcher, some * n)))
            return status;
    }
    return PENSTOCK_OK;
}

int penstock_fft_stream_push(penstock_fft_stream *stream, const void *vectors, size_t count, size_t *taken)
{
    int checked;
    if (!stream || (count && !vectors))
        return bad("penstock_fft_stream_push: stream or vectors is NULL");
    if ((checked =
             penstock__check_taken("penstock_fft_stream_push", count, stream->desc.n * stream->layout.in_bytes, taken)))
        return checked;
    if (stream->finished)
        return penstock__error(PENSTOCK_ERR_STATE, "fft stream: it was finished; reset it before pushing again");
    double now = penstock__now_s();
    int status = push(stream, vectors, count, taken);
    stream->pushed += *taken;
    penstock__meter_take(&stream->meter, *taken, now);
    return status;
}

static int pull(penstock_fft_stream *stream, penstock_cf32 *vectors, size_t capacity, bool wait, size_t *count)
{
    while (*count < capacity) {
        struct penstock__batcher *batcher = stream->batcher;
        size_t some = 0;
        const void *from;
        int status;
        if (stream->finished)
            penstock__batcher_flush(batcher); /* the batcher keeps a failure until its turn comes */
        if ((status = penstock__batcher_ready(batcher, wait || stream->finished, &from, &some)))
            return *count ? PENSTOCK_OK : status;
        if (!some)
            break;
        some = some < capacity - *count ? some : capacity - *count;
        penstock__fft_layout_out(&stream->layout, vectors + *count * stream->desc.n, from, some);
        penstock__batcher_release(batcher, some);
        *count += some;
    }
    return PENSTOCK_OK;
}

int penstock_fft_stream_pull(penstock_fft_stream *stream, penstock_cf32 *vectors, size_t capacity, bool wait,
                             size_t *count)
{
    if (!stream || !count || (capacity && !vectors))
        return bad("penstock_fft_stream_pull: an argument is NULL");
    *count = 0;
    int status = pull(stream, vectors, capacity, wait, count);
    if (*count)
        penstock__meter_give(&stream->meter, *count, stream->pulled + 1, 1, penstock__now_s());
    stream->pulled += *count;
    return status;
}

int penstock_fft_stream_run(penstock_fft_stream *stream, const void *in, size_t count, size_t *taken,
                            penstock_cf32 *out, size_t capacity, size_t *given)
{
    const size_t some = count < capacity ? count : capacity;
    int status;
    if (!stream || !taken || !given || (count && !in) || (capacity && !out))
        return bad("penstock_fft_stream_run: an argument is NULL");
    *taken = *given = 0;
    bool direct = penstock__plan_is_direct(stream->plan);
    if (stream->finished || !direct || penstock__batcher_held(stream->batcher)) {
        int pushed = count ? penstock_fft_stream_push(stream, in, count, taken) : PENSTOCK_OK;
        if (direct) /* nothing to wait for */
            penstock__batcher_flush(stream->batcher);
        status = penstock_fft_stream_pull(stream, out, capacity, direct, given);
        return status || *given ? status : pushed;
    }
    if (!some)
        return PENSTOCK_OK;
    double began = penstock__now_s();
    if ((status = penstock__fft_layout_run(&stream->layout, stream->plan, in, some, out)))
        return status;
    *taken = *given = some;
    stream->pushed += some;
    stream->pulled += some;
    penstock__meter_straight(&stream->meter, some, some, began, penstock__now_s());
    return PENSTOCK_OK;
}

double penstock_fft_stream_due_s(const penstock_fft_stream *stream)
{
    return stream ? penstock__batcher_due_s(stream->batcher) : (double)INFINITY;
}

int penstock_fft_stream_finish(penstock_fft_stream *stream)
{
    if (!stream)
        return bad("penstock_fft_stream_finish: stream is NULL");
    stream->finished = true;
    return penstock__batcher_flush(stream->batcher);
}
