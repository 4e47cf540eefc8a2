/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream of OFDM symbols' soft bits alone, for its own files. */
#ifndef PENSTOCK_OPS_OFDM_SOFT_STREAM_H
#define PENSTOCK_OPS_OFDM_SOFT_STREAM_H

#include "core/stream/device_ends.h"
#include "core/stream/ring.h"
#include "core/stream/stream.h"

#include <penstock/ofdm.h>

struct soft_stream {
    struct penstock_stream stream;
    penstock_ofdm *ofdm;
    size_t step, pilot_rows, batch; /* samples of a symbol; symbols that are demodulated at once, at most */
    penstock_cf32 *ones;
    penstock_ofdm_frame frame; /* of a channel of one */
    penstock_ofdm_symbol *symbols;
    struct penstock_device *device; /* that the memory suits */
    struct penstock__ring ring;     /* samples; items are symbols, and tickets the number of the first one */
    char *ready;                    /* symbols from `given_at` on, `waiting` of them */
    size_t waiting, given_at;
    uint64_t sent;               /* symbols before the batch that is filled */
    uint64_t flush_to;           /* those before this one are demodulated at once */
    double max_latency_s, since; /* since when a symbol is complete in the batch that is filled; 0: none is */
    uint64_t earlier_fallbacks, earlier_cpu_while_compiling;

    bool shared; /* full batches wait for a link that keeps their soft bits on the device: ofdm_soft_device.c */
    size_t part; /* soft bits of the next symbol that were used up there */
};

static inline struct soft_stream *penstock__soft_of(penstock_stream *stream)
{
    return (struct soft_stream *)(void *)stream;
}

static inline const struct soft_stream *penstock__soft_of_const(const penstock_stream *stream)
{
    return (const struct soft_stream *)(const void *)stream;
}

/* Symbols that are complete in the batch that is filled. */
static inline size_t penstock__soft_complete(const struct soft_stream *self)
{
    return self->ring.batches[self->ring.filling].samples / self->step;
}

/* Whether batches were taken back from the device, which come first. */
static inline bool penstock__soft_lost(const struct soft_stream *self)
{
    return self->ring.batches[self->ring.oldest].state == PENSTOCK__RING_LOST;
}

/* ---------------------------------------------------------------- ofdm_soft_device.c ---------- */

extern const struct penstock__device_source penstock__soft_device_source;
int penstock__soft_device_work(penstock_stream *stream, struct penstock__device_work *work);

#endif
