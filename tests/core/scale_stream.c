/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream that scales: transforms of one point, whose store stage multiplies. */
#include "scale_stream.h"
#include "core/stream/batched.h"

#include <stddef.h>

struct scale {
    struct penstock__batched batched;
    penstock_scale_desc desc;
};

static const struct penstock__batched_kind kind;

static int check(void *description)
{
    const penstock_scale_desc *desc = description;
    return desc->factor != 0 ? PENSTOCK_OK : penstock__error(PENSTOCK_ERR_ARGUMENT, "scale: factor is 0");
}

static int make(struct penstock__batched *batched)
{
    batched->max_latency_s = ((const struct scale *)(const void *)batched)->desc.max_latency_s;
    batched->stream.in_bytes = batched->stream.out_bytes = sizeof(penstock_cf32);
    batched->stream.lends_in = batched->stream.lends_out = true;
    return PENSTOCK_OK;
}

static int plan(const struct penstock__batched *batched, penstock_plan **made)
{
    const float factor = ((const struct scale *)(const void *)batched)->desc.factor;
    return penstock_fft_plan(made, batched->stream.context, &PENSTOCK_FFT_DESC(.n = 1, .store = {.scale = factor}),
                             batched->device);
}

int penstock_scale_open(penstock_stream **stream, penstock_context *context, const penstock_scale_desc *desc,
                        const char *device)
{
    return penstock__batched_open(stream, context, desc, device, &kind);
}

int penstock_scale_set_factor(penstock_stream *stream, float factor)
{
    penstock_plan *next;
    int status = penstock__stream_is(stream, &kind.calls, "penstock_scale_set_factor");
    if (status)
        return status;
    struct scale wanted = *(struct scale *)(void *)stream;
    wanted.desc.factor = factor;
    if ((status = check(&wanted.desc)) || (status = plan(&wanted.batched, &next)))
        return status;
    ((struct scale *)(void *)stream)->desc = wanted.desc;
    penstock__batched_change(penstock__batched_of(stream), next);
    return PENSTOCK_OK;
}

static const struct penstock__batched_kind kind = {
    .calls = {.name = "scale", PENSTOCK__BATCHED_LIFE, PENSTOCK__BATCHED_ITEMS},
    .bytes = sizeof(struct scale),
    .desc_name = "penstock_scale_desc",
    .desc_at = offsetof(struct scale, desc),
    .desc_bytes = sizeof(penstock_scale_desc),
    .check = check,
    .make = make,
    .plan = plan,
};
