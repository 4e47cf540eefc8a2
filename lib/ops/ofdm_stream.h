/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a stream of OFDM symbols consists of, for its own files. */
#ifndef PENSTOCK_OPS_OFDM_STREAM_H
#define PENSTOCK_OPS_OFDM_STREAM_H

#include "core/stream.h"
#include "ops/ofdm.h"

#include "backends/backend.h"

#include <penstock/ofdm_stream.h>

struct ofdm_waiting_frame {
    uint64_t start, row; /* sample, and the pilots' row of the first data symbol */
    size_t symbols;
    double cfo;
};

struct ofdm_stream {
    struct penstock_stream stream;
    penstock_ofdm *data, *training; /* the second NULL without training */
    size_t n, step, carrier_count, used_count, pilot_rows, training_symbols;
    int32_t *used; /* the training's carriers, and what is sent on each */
    penstock_cf32 *sent;
    penstock_cf32 *ones; /* channel of one, n values */
    penstock_constellation constellation;
    bool continuous;

    penstock_cf32 *samples; /* samples[i] is stream sample base + i */
    size_t filled, sample_room;
    uint64_t base;

    struct ofdm_waiting_frame *frames; /* in the order of their starts */
    size_t frame_count, frame_room;

    /* The last batch: its first `batch_count` of `frames`, of which `given` were pulled. */
    size_t batch_count, batch_room, given, given_symbols, symbol_room;
    penstock_ofdm_frame *described;
    penstock_ofdm_symbol *symbols;
    penstock_cf32 *channels, *points;
    int8_t *soft;
    penstock_ofdm_stream_counters counters;
    uint64_t earlier_fallbacks, earlier_meanwhile;
};

/* The sample behind a frame's last one. */
static inline uint64_t penstock__ofdm_stream_end(const struct ofdm_stream *ofdm, const struct ofdm_waiting_frame *frame)
{
    return frame->start + (uint64_t)(ofdm->training_symbols + frame->symbols) * ofdm->step;
}

/* ---------------------------------------------------------------- ofdm_stream_batch.c --------- */

bool penstock__ofdm_stream_grow_frames(struct ofdm_stream *ofdm, size_t count);

/* Room for `count` samples behind those that wait, in memory that the device reaches by itself. */
int penstock__ofdm_stream_reserve(struct ofdm_stream *ofdm, size_t count);

/* Does the next batch, if a frame is complete, in place of the last one. */
int penstock__ofdm_stream_work(struct ofdm_stream *ofdm);

#endif
