/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a stream of OFDM symbols consists of, for its own files. */
#ifndef PENSTOCK_OPS_OFDM_STREAM_H
#define PENSTOCK_OPS_OFDM_STREAM_H

#include "core/stream/stream.h"
#include "ops/ofdm/ofdm.h"

#include "backends/backend.h"

#include <penstock/ofdm_stream.h>

struct ofdm_waiting_frame {
    uint64_t start, row; /* sample, and the pilots' row of the first data symbol */
    size_t symbols;
    double cfo;
};

/* Samples that lie one behind the other, in memory that the device reaches by itself. */
struct ofdm_memory {
    struct ofdm_memory *next; /* spare */
    penstock_cf32 *samples;
    size_t room;
    unsigned batches; /* that are not done */
};

enum ofdm_batch_state {
    OFDM_BATCH_SENT, /* on its way through the slot */
    OFDM_BATCH_LOST, /* it failed there */
    OFDM_BATCH_DONE
};

struct ofdm_batch {
    struct ofdm_batch *next; /* sent after it, or spare */
    enum ofdm_batch_state state;
    unsigned slot;
    struct ofdm_memory *memory; /* its first sample is number `begin` there, and `base` of the stream; NULL once done */
    size_t begin, sample_count;
    uint64_t base;
    struct ofdm_waiting_frame *frames;
    size_t frame_count, frame_room, symbol_count, symbol_room;
    size_t given, given_symbols; /* of its frames, and their symbols */
    penstock_ofdm_frame *described;
    penstock_ofdm_symbol *symbols;
    penstock_cf32 *channels; /* with training */
    char *made;              /* soft bits, then points: `layout` */
    size_t made_bytes;
};

struct ofdm_stream {
    struct penstock_stream stream;
    penstock_ofdm *data, *training; /* the second NULL without training */
    size_t n, step, carrier_count, used_count, pilot_rows, training_symbols;
    struct penstock_ofdm_problem layout; /* of results */
    int32_t *used;                       /* the training's carriers, and what is sent on each */
    penstock_cf32 *sent;
    penstock_cf32 *ones; /* channel of one, n values */
    float plain_scale;   /* penstock__ofdm_stream_scale() of that, without training */
    penstock_constellation constellation;
    bool continuous;

    /* Number i of the memory is stream sample base + i; those from `begin` to `filled` wait. */
    struct ofdm_memory *memory, *spare_memory;
    size_t begin, filled;
    uint64_t base;

    struct ofdm_waiting_frame *frames; /* that no batch has, in the order of their starts */
    size_t frame_count, frame_room;

    struct ofdm_batch *first, *last, *spare; /* in their order; the first one is read */
    unsigned on_their_way, next_slot;
    bool held; /* a batch could not be sent: the next pull tries again */
    uint64_t sent_frames, pulled_frames;
    penstock_ofdm_stream_counters counters;
    uint64_t earlier_fallbacks, earlier_cpu_while_compiling;
};

/* The sample behind a frame's last one. */
static inline uint64_t penstock__ofdm_stream_end(const struct ofdm_stream *ofdm, const struct ofdm_waiting_frame *frame)
{
    return frame->start + (uint64_t)(ofdm->training_symbols + frame->symbols) * ofdm->step;
}

/* ---------------------------------------------------------------- ofdm_stream_memory.c -------- */

bool penstock__ofdm_stream_grow_frames(struct ofdm_stream *ofdm, size_t count);

/* Samples that the batch lacks that was begun, where symbols follow each other and a device takes several batches at
 * once; else 0. With room for so many the batch lies in one piece of memory, and no sample has to be moved to another.
 */
size_t penstock__ofdm_stream_lacks(const struct ofdm_stream *ofdm);

/* Room for `count` samples behind those that wait, in memory that the device reaches by itself. */
int penstock__ofdm_stream_reserve(struct ofdm_stream *ofdm, size_t count);

/* The same for all pieces of memory that the next `count` samples come to lie in, as far as can be foreseen. */
int penstock__ofdm_stream_foresee(struct ofdm_stream *ofdm, size_t count);

/* It becomes spare where nobody fills or reads it. */
void penstock__ofdm_memory_leave(struct ofdm_stream *ofdm, struct ofdm_memory *memory);

/* With room for so many frames and symbols; NULL without memory. */
struct ofdm_batch *penstock__ofdm_batch_new(struct ofdm_stream *ofdm, size_t frames, size_t symbols);
void penstock__ofdm_batch_free(const struct ofdm_stream *ofdm, struct ofdm_batch *batch);

/* ---------------------------------------------------------------- ofdm_soft_stream.c ---------- */

/* Of a description that was checked, with `soft`. */
int penstock__ofdm_soft_stream_open(penstock_stream **stream, penstock_context *context,
                                    const penstock_ofdm_stream_desc *desc, const char *device);

/* ---------------------------------------------------------------- ofdm_stream_batch.c --------- */

/* What soft bits are multiplied by, so that one on a carrier with the frame's mean power is STRONG_BIT at the least
 * distance. */
float penstock__ofdm_stream_scale(const struct ofdm_stream *ofdm, const penstock_cf32 *channel);

/* The same where that power is known. */
float penstock__ofdm_stream_strength(penstock_constellation constellation, float power);

/* `count` symbols of a frame that follow each other, the first one at sample `start`; it is `number` of those that the
 * pilots' rows are counted by. */
void penstock__ofdm_stream_symbols(penstock_ofdm_symbol *symbols, size_t count, uint32_t frame, uint64_t start,
                                   size_t step, uint64_t number, size_t pilot_rows);

/* Sends what makes whole batches, and once the stream is finished all that is complete, where the device takes several
 * at once. What fails does so again with the next pull. */
void penstock__ofdm_stream_send(struct ofdm_stream *ofdm);

/* Ends the batch that was read to its end; *batch: the one to be read, done, or NULL while no frame is complete. */
int penstock__ofdm_stream_next(struct ofdm_stream *ofdm, struct ofdm_batch **batch);

/* Forgets all samples, frames and batches. */
void penstock__ofdm_stream_forget(struct ofdm_stream *ofdm);
void penstock__ofdm_stream_free(struct ofdm_stream *ofdm);

#endif
