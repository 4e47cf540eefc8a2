/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A stream of vectors through a batched FFT plan and a batcher. Real vectors go through the real transform, of half the
 * work; the other half of their bins is the mirror image and written on the way out.
 */
#include "core/batcher.h"
#include "core/description.h"

#include <math.h>
#include <string.h>

#define BATCH_BYTES ((size_t)8 << 20)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "fft stream: " __VA_ARGS__)

struct penstock_fft_stream {
    penstock_fft_stream_desc desc;
    penstock_plan *plan;
    struct penstock__batcher *batcher;
    size_t in_bytes; /* of one value pushed */
    size_t rotation; /* the input's value at this index is the transform's first */
    uint64_t pushed, pulled;
    bool finished;
};

/* ---------------------------------------------------------------- life ------------------------ */

/* `count` values from `from`, the one at `first` first. */
static void rotate(void *to, const void *from, size_t count, size_t first, size_t bytes)
{
    memcpy(to, (const char *)from + first * bytes, (count - first) * bytes);
    memcpy((char *)to + (count - first) * bytes, from, first * bytes);
}

static int make_plan(penstock_fft_stream *stream, penstock_context *context, const char *device)
{
    const penstock_fft_stream_desc *d = &stream->desc;
    float *window = NULL;
    if (d->window) {
        if (!(window = penstock__alloc(d->n * sizeof *window)))
            return PENSTOCK_ERR_MEMORY;
        rotate(window, d->window, d->n, stream->rotation, sizeof *window);
    }
    int status = penstock_fft_plan(
        &stream->plan, context,
        &PENSTOCK_FFT_DESC(.n = d->n, .direction = d->real ? PENSTOCK_FORWARD : d->direction,
                           .domain = d->real ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                           .load = {.format = d->real ? PENSTOCK_F32 : PENSTOCK_CF32, .window = window},
                           .store = {.centered = d->centered && d->direction == PENSTOCK_FORWARD && !d->real}),
        device);
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
    made->in_bytes = d.real ? sizeof(float) : sizeof(penstock_cf32);
    made->rotation = d.centered && d.direction == PENSTOCK_REVERSE ? d.n / 2 : 0;
    if ((status = make_plan(made, context, device)) ||
        (status = penstock__batcher_new(&made->batcher, made->plan, BATCH_BYTES, d.max_latency_s))) {
        penstock_fft_stream_free(made);
        return status;
    }
    made->desc.window = NULL;
    *stream = made;
    return PENSTOCK_OK;
}

void penstock_fft_stream_free(penstock_fft_stream *stream)
{
    if (!stream)
        return;
    penstock__batcher_free(stream->batcher);
    penstock_plan_free(stream->plan);
    penstock__free(stream);
}

int penstock_fft_stream_reset(penstock_fft_stream *stream)
{
    if (!stream)
        return bad("penstock_fft_stream_reset: stream is NULL");
    penstock__batcher_reset(stream->batcher);
    stream->pushed = stream->pulled = 0;
    stream->finished = false;
    return PENSTOCK_OK;
}

const char *penstock_fft_stream_device(const penstock_fft_stream *stream)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    return stream && !penstock_plan_get_info(stream->plan, &info) ? info.device : NULL;
}

int penstock_fft_stream_get_counters(const penstock_fft_stream *stream, penstock_fft_stream_counters *counters)
{
    if (!stream)
        return bad("penstock_fft_stream_get_counters: stream is NULL");
    penstock_fft_stream_counters now = {.size = sizeof now,
                                        .pushed = stream->pushed,
                                        .pulled = stream->pulled,
                                        .fallbacks = penstock__plan_fallbacks(stream->plan),
                                        .batch = penstock__batcher_capacity(stream->batcher)};
    return penstock__description_write(counters, &now, sizeof now, "penstock_fft_stream_counters");
}

/* ---------------------------------------------------------------- vectors in and out ---------- */

int penstock_fft_stream_push(penstock_fft_stream *stream, const void *vectors, size_t count, size_t *taken)
{
    size_t ignored;
    taken = taken ? taken : &ignored;
    *taken = 0;
    if (!stream || (count && !vectors))
        return bad("penstock_fft_stream_push: stream or vectors is NULL");
    if (stream->finished)
        return penstock__error(PENSTOCK_ERR_STATE, "fft stream: it was finished; reset it before pushing again");
    const size_t n = stream->desc.n, bytes = n * stream->in_bytes;
    while (*taken < count) {
        size_t some = count - *taken, room;
        void *to;
        int status;
        if ((status = penstock__batcher_room(stream->batcher, &to, &room)) || !room)
            return status;
        some = some < room / n ? some : room / n;
        for (size_t i = 0; i < some; i++)
            rotate((char *)to + i * bytes, (const char *)vectors + (*taken + i) * bytes, n, stream->rotation,
                   stream->in_bytes);
        *taken += some;
        stream->pushed += some;
        if ((status = penstock__batcher_commit(stream->batcher, some * n)))
            return status;
    }
    return PENSTOCK_OK;
}

/* All n bins from the first half of a real vector's spectrum. In reverse they are those of the negative frequencies. */
static void mirror(const penstock_fft_stream *stream, penstock_cf32 *to, const penstock_cf32 *half)
{
    const size_t n = stream->desc.n, middle = stream->desc.centered && !stream->rotation ? n / 2 : 0;
    const float sign = stream->desc.direction == PENSTOCK_REVERSE ? -1.0f : 1.0f;
    for (size_t k = 0; k <= n / 2; k++) {
        const penstock_cf32 value = {half[k].re, sign * half[k].im};
        to[(n - k + middle) % n] = (penstock_cf32){value.re, -value.im};
        to[(k + middle) % n] = value;
    }
}

int penstock_fft_stream_pull(penstock_fft_stream *stream, penstock_cf32 *vectors, size_t capacity, bool wait,
                             size_t *count)
{
    if (!stream || !count || (capacity && !vectors))
        return bad("penstock_fft_stream_pull: an argument is NULL");
    const size_t n = stream->desc.n;
    *count = 0;
    while (*count < capacity) {
        const penstock_cf32 *values;
        const void *from;
        size_t some = 0;
        int status;
        if (stream->finished)
            penstock__batcher_flush(stream->batcher); /* the batcher keeps a failure until its turn comes */
        if ((status = penstock__batcher_ready(stream->batcher, wait || stream->finished, &from, &some)))
            return *count ? PENSTOCK_OK : status;
        if (!some)
            break;
        values = from;
        some = some < capacity - *count ? some : capacity - *count;
        if (!stream->desc.real)
            memcpy(vectors + *count * n, values, some * n * sizeof *values);
        for (size_t i = 0; stream->desc.real && i < some; i++)
            mirror(stream, vectors + (*count + i) * n, values + i * (n / 2 + 1));
        penstock__batcher_release(stream->batcher, some);
        *count += some;
        stream->pulled += some;
    }
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
