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

#define BATCH_BYTES  ((size_t)8 << 20)
#define STRAIGHT_MAX ((size_t)1 << 16) /* values rearranged at a time, so that they stay in a cache */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "fft stream: " __VA_ARGS__)

struct penstock_fft_stream {
    penstock_fft_stream_desc desc;
    penstock_plan *plan;
    struct penstock__batcher *batcher;
    size_t in_bytes; /* of one value pushed */
    size_t rotation; /* the input's value at this index is the transform's first */
    void *rotated;   /* of run(): vectors on their way into the plan, where they are rotated, */
    void *halves;    /* and half spectra on their way out, where vectors are real */
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
    penstock__free(stream->rotated);
    penstock__free(stream->halves);
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
    penstock_cf32 *low = to + middle, *high = to + (middle ? middle : n); /* bins k and n - k: low[k], high[-k] */
    for (size_t k = 1; k < (n + 1) / 2; k++) {
        low[k] = (penstock_cf32){half[k].re, sign * half[k].im};
        high[-(ptrdiff_t)k] = (penstock_cf32){half[k].re, -sign * half[k].im};
    }
    if (n % 2 == 0)
        to[(n / 2 + middle) % n] = (penstock_cf32){half[n / 2].re, sign * half[n / 2].im};
    low[0] = (penstock_cf32){half[0].re, sign * half[0].im};
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

/* ---------------------------------------------------------------- both in one call ------------ */

static int make_room(void **memory, size_t bytes)
{
    if (!*memory)
        *memory = penstock__alloc(bytes);
    return *memory ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* Vectors that are rearranged on the way in or out, as many at a time as stay in a cache. */
static int transform_rearranged(penstock_fft_stream *stream, const char *in, size_t count, penstock_cf32 *out)
{
    const size_t n = stream->desc.n, most = STRAIGHT_MAX > n ? STRAIGHT_MAX / n : 1, bytes = n * stream->in_bytes;
    int status;
    if ((stream->rotation && (status = make_room(&stream->rotated, most * bytes))) ||
        (stream->desc.real && (status = make_room(&stream->halves, most * (n / 2 + 1) * sizeof *out))))
        return status;
    for (size_t done = 0, some; done < count; done += some) {
        const void *from = in + done * bytes;
        penstock_cf32 *to = out + done * n;
        some = count - done < most ? count - done : most;
        for (size_t i = 0; stream->rotation && i < some; i++)
            rotate((char *)stream->rotated + i * bytes, (const char *)from + i * bytes, n, stream->rotation,
                   stream->in_bytes);
        if ((status = penstock_plan_run(stream->plan, stream->rotation ? stream->rotated : from,
                                        stream->desc.real ? stream->halves : to, some)))
            return status;
        for (size_t i = 0; stream->desc.real && i < some; i++)
            mirror(stream, to + i * n, (const penstock_cf32 *)stream->halves + i * (n / 2 + 1));
    }
    return PENSTOCK_OK;
}

int penstock_fft_stream_run(penstock_fft_stream *stream, const void *in, size_t count, size_t *taken,
                            penstock_cf32 *out, size_t capacity, size_t *given)
{
    const size_t some = count < capacity ? count : capacity;
    int status;
    if (!stream || !taken || !given || (count && !in) || (capacity && !out))
        return bad("penstock_fft_stream_run: an argument is NULL");
    *taken = *given = 0;
    if (stream->finished || !penstock__plan_is_direct(stream->plan) || !penstock__batcher_empty(stream->batcher)) {
        status = count ? penstock_fft_stream_push(stream, in, count, taken) : PENSTOCK_OK;
        int pulled = penstock_fft_stream_pull(stream, out, capacity, false, given);
        return pulled ? pulled : *given ? PENSTOCK_OK : status;
    }
    if (stream->rotation || stream->desc.real)
        status = transform_rearranged(stream, in, some, out);
    else
        status = some ? penstock_plan_run(stream->plan, in, out, some) : PENSTOCK_OK;
    if (status)
        return status;
    *taken = *given = some;
    stream->pushed += some;
    stream->pulled += some;
    return PENSTOCK_OK;
}
