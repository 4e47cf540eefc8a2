/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A stream of vectors through a batched FFT plan and a batcher; or straight through the plan, where batches bring
 * nothing. Another window is another plan.
 */
#include "core/batcher.h"
#include "core/description.h"
#include "core/stream.h"
#include "ops/fft_layout.h"

#include <math.h>
#include <string.h>

#define BATCH_BYTES ((size_t)8 << 20)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "fft stream: " __VA_ARGS__)

struct fft_stream {
    struct penstock_stream stream;
    penstock_fft_stream_desc desc; /* its window is not kept */
    char *device;                  /* as it was asked for */
    struct penstock__fft_layout layout;
    penstock_plan *plan;
    struct penstock__batcher *batcher;
    uint64_t fallbacks, meanwhile; /* of plans that are gone */
};

static const struct penstock__stream_kind kind;

static struct fft_stream *of(penstock_stream *stream)
{
    return (struct fft_stream *)(void *)stream;
}

static const struct fft_stream *of_const(const penstock_stream *stream)
{
    return (const struct fft_stream *)(const void *)stream;
}

/* ---------------------------------------------------------------- life ------------------------ */

static int make_plan(struct fft_stream *fft, penstock_plan **plan, const float *factors)
{
    const penstock_fft_stream_desc *d = &fft->desc;
    float *window = NULL;
    if (factors) {
        if (!(window = penstock__alloc(d->n * sizeof *window)))
            return PENSTOCK_ERR_MEMORY;
        penstock__fft_layout_rotate(&fft->layout, window, factors, sizeof *window);
    }
    int status = penstock_fft_plan(
        plan, fft->stream.context,
        &PENSTOCK_FFT_DESC(.n = d->n, .direction = d->real ? PENSTOCK_FORWARD : d->direction,
                           .domain = d->real ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                           .load = {.format = d->real ? PENSTOCK_F32 : PENSTOCK_CF32, .window = window},
                           .store = {.centered = d->centered && d->direction == PENSTOCK_FORWARD && !d->real}),
        fft->device);
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

int penstock_fft_stream_open(penstock_stream **stream, penstock_context *context, const penstock_fft_stream_desc *desc,
                             const char *device)
{
    penstock_fft_stream_desc d;
    struct fft_stream *made;
    int status;
    if (!stream || !context)
        return bad("penstock_fft_stream_open: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_fft_stream_desc")) || (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    made->desc.window = NULL;
    penstock__fft_layout_init(&made->layout, context, &d);
    made->stream = (struct penstock_stream){.kind = &kind,
                                            .context = context,
                                            .in_bytes = d.n * made->layout.in_bytes,
                                            .out_bytes = d.n * sizeof(penstock_cf32),
                                            .lends_in = !made->layout.real && !made->layout.rotation,
                                            .lends_out = !made->layout.real};
    status = PENSTOCK_ERR_MEMORY;
    if ((device && !(made->device = penstock__strdup(device))) || (status = make_plan(made, &made->plan, d.window)) ||
        (status = penstock__batcher_new(&made->batcher, made->plan, BATCH_BYTES, d.max_latency_s))) {
        penstock_stream_free(&made->stream);
        return status;
    }
    penstock__batcher_set_meter(made->batcher, &made->stream.meter);
    penstock__stream_start(&made->stream);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void free_stream(penstock_stream *stream)
{
    struct fft_stream *fft = of(stream);
    penstock__batcher_free(fft->batcher);
    penstock_plan_free(fft->plan);
    penstock__fft_layout_free(&fft->layout);
    penstock__free(fft->device);
    penstock__free(fft);
}

static void reset(penstock_stream *stream)
{
    penstock__batcher_reset(of(stream)->batcher);
}

int penstock_fft_stream_set_window(penstock_stream *stream, const float *window)
{
    penstock_plan *next;
    int status = penstock__stream_is(stream, &kind, "penstock_fft_stream_set_window");
    if (status)
        return status;
    struct fft_stream *fft = of(stream);
    if ((status = make_plan(fft, &next, window)))
        return status;
    penstock__batcher_set_plan(fft->batcher, next);
    fft->fallbacks += penstock__plan_fallbacks(fft->plan);
    fft->meanwhile += penstock__plan_meanwhile(fft->plan);
    penstock_plan_free(fft->plan);
    fft->plan = next;
    return PENSTOCK_OK;
}

static int set_max_latency(penstock_stream *stream, double max_latency_s)
{
    of(stream)->desc.max_latency_s = max_latency_s;
    penstock__batcher_set_latency(of(stream)->batcher, max_latency_s);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- what is known --------------- */

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    penstock_plan_get_info(of_const(stream)->plan, &plan);
    info->device = plan.device;
    info->batch = penstock__batcher_capacity(of_const(stream)->batcher);
}

static void get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct fft_stream *fft = of_const(stream);
    stats->fallbacks = fft->fallbacks + penstock__plan_fallbacks(fft->plan);
    stats->meanwhile = fft->meanwhile + penstock__plan_meanwhile(fft->plan);
}

static double due_s(const penstock_stream *stream)
{
    return penstock__batcher_due_s(of_const(stream)->batcher);
}

/* ---------------------------------------------------------------- vectors in and out ---------- */

/* Those of a push, for the batcher to ask for. */
struct vectors_in {
    const struct penstock__fft_layout *layout;
    const char *from;
};

static void fill(const void *owner, void *to, size_t first, size_t count)
{
    const struct vectors_in *in = owner;
    const size_t n = in->layout->n;
    penstock__fft_layout_in(in->layout, to, in->from + first * in->layout->in_bytes, count / n);
}

static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    struct fft_stream *fft = of(stream);
    const struct vectors_in vectors = {&fft->layout, in->whole};
    const struct penstock__feed feed = {
        .samples = fft->layout.rotation ? NULL : in->whole, .fill = fill, .owner = &vectors};
    size_t samples = 0;
    int status = penstock__batcher_push(fft->batcher, &feed, count * fft->desc.n, &samples);
    *taken = samples / fft->desc.n;
    return status;
}

static int acquire(penstock_stream *stream, void **to, size_t *room)
{
    int status = penstock__batcher_room(of(stream)->batcher, to, room);
    *room /= of(stream)->desc.n;
    return status;
}

static int commit(penstock_stream *stream, size_t count)
{
    return penstock__batcher_commit(of(stream)->batcher, count * of(stream)->desc.n);
}

static int peek(penstock_stream *stream, bool wait, const void **from, size_t *count)
{
    struct penstock__batcher *batcher = of(stream)->batcher;
    if (stream->finished)
        penstock__batcher_flush(batcher); /* the batcher keeps a failure until its turn comes */
    return penstock__batcher_ready(batcher, wait || stream->finished, from, count);
}

static void release(penstock_stream *stream, size_t count)
{
    penstock__batcher_release(of(stream)->batcher, count);
    penstock__stream_gave(stream, count, stream->given + 1, 1);
}

static int give(struct fft_stream *fft, penstock_cf32 *vectors, size_t capacity, bool wait, size_t *count)
{
    while (*count < capacity) {
        size_t some = 0;
        const void *from;
        int status = peek(&fft->stream, wait, &from, &some);
        if (status)
            return *count ? PENSTOCK_OK : status;
        if (!some)
            break;
        some = some < capacity - *count ? some : capacity - *count;
        penstock__fft_layout_out(&fft->layout, vectors + *count * fft->desc.n, from, some);
        penstock__batcher_release(fft->batcher, some);
        *count += some;
    }
    return PENSTOCK_OK;
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    int status = give(of(stream), out->whole, capacity, wait, count);
    penstock__stream_gave(stream, *count, stream->given + 1, 1);
    return status;
}

/* What waits in the batcher comes first; a device that computes within the call makes nobody wait for it. */
static int run_held(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                    const struct penstock__room *out, size_t capacity, size_t *given)
{
    struct fft_stream *fft = of(stream);
    bool direct = penstock__plan_is_direct(fft->plan);
    int pushed = count ? push(stream, &(struct penstock__items){.whole = in}, count, taken) : PENSTOCK_OK;
    penstock__stream_took(stream, *taken, penstock__now_s());
    if (direct)
        penstock__batcher_flush(fft->batcher);
    int status = pull(stream, out, capacity, direct, given);
    return status || *given ? status : pushed;
}

static int run(penstock_stream *stream, const void *in, size_t count, size_t *taken, const struct penstock__room *out,
               size_t capacity, size_t *given)
{
    struct fft_stream *fft = of(stream);
    const size_t some = count < capacity ? count : capacity;
    int status;
    if (stream->finished || !penstock__plan_is_direct(fft->plan) || penstock__batcher_held(fft->batcher))
        return run_held(stream, in, count, taken, out, capacity, given);
    if (!some)
        return PENSTOCK_OK;
    double began = penstock__now_s();
    if ((status = penstock__fft_layout_run(&fft->layout, fft->plan, in, some, out->whole)))
        return status;
    *taken = *given = some;
    stream->taken += some;
    stream->given += some;
    penstock__meter_straight(&stream->meter, some, some, began, penstock__now_s());
    return PENSTOCK_OK;
}

static int flush(penstock_stream *stream)
{
    return penstock__batcher_flush(of(stream)->batcher);
}

static int finish(penstock_stream *stream)
{
    stream->finished = true;
    return flush(stream);
}

static const struct penstock__stream_kind kind = {
    .name = "fft",
    .push = push,
    .pull = pull,
    .run = run,
    .acquire = acquire,
    .commit = commit,
    .peek = peek,
    .release = release,
    .flush = flush,
    .finish = finish,
    .reset = reset,
    .free = free_stream,
    .set_max_latency = set_max_latency,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = get_stats,
};
