/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream of vectors through a batched FFT plan; or straight through the plan, where batches bring nothing. Another
 * window is another plan. */
#include "core/check/check.h"
#include "core/stream/batched.h"
#include "core/stream/device_ends.h"
#include "ops/fft/fft_layout.h"

#include <stddef.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "fft stream: " __VA_ARGS__)

struct fft_stream {
    struct penstock__batched batched;
    penstock_fft_stream_desc desc; /* its window is not kept */
    struct penstock__fft_layout layout;
};

static const struct penstock__batched_kind kind;

static struct fft_stream *of(struct penstock__batched *batched)
{
    return (struct fft_stream *)(void *)batched;
}

static const struct fft_stream *of_const(const struct penstock__batched *batched)
{
    return (const struct fft_stream *)(const void *)batched;
}

/* ---------------------------------------------------------------- life ------------------------ */

static int check(void *description)
{
    const penstock_fft_stream_desc *desc = description;
    if (desc->n < 1 || desc->n > (size_t)1 << 23)
        return bad("n is %zu, not 1 .. %zu", desc->n, (size_t)1 << 23);
    if (desc->direction != PENSTOCK_FORWARD && desc->direction != PENSTOCK_REVERSE)
        return bad("direction %d is neither forward nor reverse", (int)desc->direction);
    return PENSTOCK_OK;
}

static int make(struct penstock__batched *batched)
{
    struct fft_stream *fft = of(batched);
    penstock__fft_layout_init(&fft->layout, batched->stream.context, &fft->desc);
    batched->unit = fft->desc.n;
    batched->max_latency_s = fft->desc.max_latency_s;
    batched->stream.in_bytes = fft->desc.n * fft->layout.in_bytes;
    batched->stream.out_bytes = fft->desc.n * sizeof(penstock_cf32);
    batched->stream.in_values = 1 + (fft->layout.real ? PENSTOCK_F32 : PENSTOCK_CF32);
    batched->stream.out_values = 1 + PENSTOCK_CF32;
    batched->stream.lends_in = !fft->layout.real && !fft->layout.rotation;
    batched->stream.lends_out = !fft->layout.real;
    return PENSTOCK_OK;
}

static int plan(const struct penstock__batched *batched, penstock_plan **made)
{
    const struct fft_stream *fft = of_const(batched);
    const penstock_fft_stream_desc *d = &fft->desc;
    float *window = NULL;
    if (d->window) {
        if (!(window = penstock__alloc(d->n * sizeof *window)))
            return PENSTOCK_ERR_MEMORY;
        penstock__fft_layout_rotate(&fft->layout, window, d->window, sizeof *window);
    }
    int status = penstock_fft_plan(
        made, batched->stream.context,
        &PENSTOCK_FFT_DESC(.n = d->n, .slots = PENSTOCK__BATCHED_SLOTS,
                           .direction = d->real ? PENSTOCK_FORWARD : d->direction,
                           .domain = d->real ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                           .load = {.format = d->real ? PENSTOCK_F32 : PENSTOCK_CF32, .window = window},
                           .store = {.centered = d->centered && d->direction == PENSTOCK_FORWARD && !d->real}),
        batched->device);
    penstock__free(window);
    return status;
}

static void forget(struct penstock__batched *batched)
{
    of(batched)->desc.window = NULL;
}

static void free_layout(struct penstock__batched *batched)
{
    penstock__fft_layout_free(&of(batched)->layout);
}

int penstock_fft_stream_open(penstock_stream **stream, penstock_context *context, const penstock_fft_stream_desc *desc,
                             const char *device)
{
    return penstock__batched_open(stream, context, desc, device, &kind);
}

int penstock_fft_stream_set_window(penstock_stream *stream, const float *window)
{
    penstock_plan *next;
    int status = penstock__stream_is(stream, &kind.calls, "penstock_fft_stream_set_window");
    if (status)
        return status;
    struct penstock__batched *batched = penstock__batched_of(stream);
    of(batched)->desc.window = window;
    penstock__check_replaces(true);
    status = plan(batched, &next);
    penstock__check_replaces(false);
    if (!status)
        penstock__batched_change(batched, next);
    forget(batched);
    return status;
}

/* ---------------------------------------------------------------- vectors in and out ---------- */

static const void *ready(const struct penstock__batched *batched, const struct penstock__items *in)
{
    return of_const(batched)->layout.rotation ? NULL : in->whole;
}

static void fill(const struct penstock__batched *batched, const struct penstock__items *in, void *to, size_t first,
                 size_t count)
{
    const char *from = (const char *)in->whole + first * batched->stream.in_bytes;
    penstock__fft_layout_in(&of_const(batched)->layout, to, from, count);
}

static void give(const struct penstock__batched *batched, void *to, const void *from, size_t count)
{
    penstock__fft_layout_out(&of_const(batched)->layout, to, from, count);
}

static int straight(struct penstock__batched *batched, const void *in, size_t count, void *out)
{
    return penstock__fft_layout_run(&of(batched)->layout, batched->plan, in, count, out);
}

static const struct penstock__batched_kind kind = {
    .calls = {.name = "fft",
              PENSTOCK__BATCHED_LIFE,
              PENSTOCK__BATCHED_ITEMS,
              .device_source = &penstock__device_through,
              .device_batcher = penstock__batched_device_batcher},
    .bytes = sizeof(struct fft_stream),
    .desc_name = "penstock_fft_stream_desc",
    .desc_at = offsetof(struct fft_stream, desc),
    .desc_bytes = sizeof(penstock_fft_stream_desc),
    .check = check,
    .make = make,
    .plan = plan,
    .forget = forget,
    .free = free_layout,
    .ready = ready,
    .fill = fill,
    .give = give,
    .straight = straight,
};
