/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The analysis bank as a stream, and the changes that wait for their frames.
 *
 * Where the device is not ready at once, another thread makes an engine there while this one's is the CPU's. As that
 * makes frames when they are asked for, and nothing is on its way, the other one takes its place at any frame.
 */
#ifndef PENSTOCK_OPS_CHANNELIZER_STREAM_H
#define PENSTOCK_OPS_CHANNELIZER_STREAM_H

#include "core/choice/cpu_while_compiling.h"
#include "core/stream/meter.h"
#include "core/stream/rest.h"
#include "core/stream/stream.h"
#include "ops/channelizer/channelizer_engine.h"

/* Another prototype from a frame on. */
struct channelizer_change {
    struct channel_bank bank;
    penstock_plan *plan; /* or NULL, where the engine's goes on */
    uint64_t frame;
    struct channelizer_change *next;
};

/* What an engine is made from. */
struct channelizer_order {
    penstock_context *context;
    penstock_channelizer_desc desc; /* the stream's, without the pointers */
    struct channel_bank bank;       /* the factors are its own, other weights it has not */
    penstock_format wanted;         /* as the engine's */
    bool stale;                     /* another prototype holds by now */
};

struct channelizer {
    struct penstock_stream stream;
    penstock_channelizer_desc desc; /* defaults filled in, without the pointers; tap_count is that of the last change */
    size_t *select;
    struct channelizer_engine engine;
    struct channelizer_order order;
    struct penstock__async_build *build; /* the engine on the device that is waited for, or NULL */
    struct penstock__standby standby;
    uint64_t cpu_while_compiling;       /* batches of frames that the CPU made then */
    struct channelizer_change *changes; /* in the order of their frames, all after `folded` */

    char *in;                    /* samples in the engine's format */
    size_t start, end, capacity; /* of these: what is in use, from the next frame's window on */
    size_t widest;               /* window for which there is room, and zeros before the stream */
    struct penstock__rest rest;  /* of a planar push; counted as pushed */
    uint64_t folded;             /* frames that left `in`, or are on their way from there */
    uint64_t flush_to;           /* those before this one are sent at once */
    double since;                /* when the first of those that wait to be sent was complete; 0: none was */
    uint64_t total;              /* frames of the whole stream, once finished */

    bool shared; /* full batches wait for a link that keeps their frames on the device: channelizer_device.c */
};

extern const struct penstock__stream_kind penstock__channelizer_kind;

static inline struct channelizer *channelizer_of(penstock_stream *stream)
{
    return (struct channelizer *)(void *)stream;
}

static inline const struct channelizer *const_channelizer_of(const penstock_stream *stream)
{
    return (const struct channelizer *)(const void *)stream;
}

/* Sample `at` of what gathers. */
static inline char *penstock__channelizer_sample(const struct channelizer *channelizer, size_t at)
{
    return channelizer->in + at * penstock__channelizer_engine_sample(&channelizer->engine);
}

/* Counts frames that were given. The first one needs the samples up to p; those after the stream's end are not waited
 * for. */
static inline void penstock__channelizer_gave(penstock_stream *stream, size_t count)
{
    const penstock_channelizer_desc *desc = &channelizer_of(stream)->desc;
    penstock__stream_gave(stream, count, stream->given * desc->hop + desc->advance + 1, desc->hop);
}

/* ---- channelizer_memory.c ---- */

/* Memory for longer windows, or for another engine. While nothing of the stream is gone, there are zeros before it for
 * them too. */
int penstock__channelizer_relocate(struct channelizer *channelizer, const struct channelizer_engine *engine,
                                   size_t window);

/* What is in use goes to the front of the memory. */
void penstock__channelizer_to_front(struct channelizer *channelizer);

/* How many samples there is room for, after that; it goes not before as much has left. */
size_t penstock__channelizer_make_way(struct channelizer *channelizer);

/* Frames whose windows are full, whatever changes, and up to the next change. */
size_t penstock__channelizer_all_windows(const struct channelizer *channelizer);
size_t penstock__channelizer_full_windows(const struct channelizer *channelizer);

/* Full windows on their way to a device that works in batches: whole batches, or all. */
int penstock__channelizer_send(struct channelizer *channelizer, bool all);

/* The same after a push; where a link may take a batch it does not go before a pull asks for it. */
int penstock__channelizer_offer(struct channelizer *channelizer, bool all);

/* Samples that may come at a time: those of a batch, of which no second one gathers where a link may take the first. */
size_t penstock__channelizer_most(const struct channelizer *channelizer);

/* Whether what waits for a full batch was to be on its way by now. */
bool penstock__channelizer_overdue(const struct channelizer *channelizer);

/* ---- channelizer_in.c ---- */

/* What is left of a planar push, as far as there is room; and after the end all that is left, on its way. */
int penstock__channelizer_take_rest(struct channelizer *channelizer);
int penstock__channelizer_end_input(struct channelizer *channelizer);

/* Frames of all samples that were taken, at the end. */
uint64_t penstock__channelizer_total(const struct channelizer *channelizer);

/* As many of `total` samples, from `*taken` on, as there is room for; planar ones all at once or, where some are still
 * kept, none. */
int penstock__channelizer_take_in(struct channelizer *channelizer, const void *samples, size_t total, size_t *taken);

/* Of the kind's table. */
int penstock__channelizer_push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken);
int penstock__channelizer_acquire(penstock_stream *stream, void **to, size_t *room);
int penstock__channelizer_commit(penstock_stream *stream, size_t count);
int penstock__channelizer_flush(penstock_stream *stream);
int penstock__channelizer_finish(penstock_stream *stream);

/* ---- channelizer_out.c: of the kind's table ---- */

int penstock__channelizer_pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait,
                               size_t *count);
int penstock__channelizer_run(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                              const struct penstock__room *out, size_t capacity, size_t *given);
int penstock__channelizer_peek(penstock_stream *stream, bool wait, const void **from, size_t *count);
void penstock__channelizer_release(penstock_stream *stream, size_t count);

/* ---- channelizer_changes.c ---- */

/* Frames that left `in`; changes of the next one hold. */
void penstock__channelizer_leave(struct channelizer *channelizer, size_t frames);

/* The first value of `in` that a frame to come needs. */
size_t penstock__channelizer_oldest(const struct channelizer *channelizer);

/* Whether nothing of the stream is gone from `in`. */
bool penstock__channelizer_is_whole(const struct channelizer *channelizer);

/* The first frame from sample `at` on that may have another bank: after what was pushed and after the changes before,
 * and with its window still there. */
uint64_t penstock__channelizer_change_frame(const struct channelizer *channelizer, const struct channel_bank *bank,
                                            uint64_t at);

void penstock__channelizer_change_free(struct channelizer_change *change);

/* Changes that did not come to hold. */
void penstock__channelizer_drop_changes(struct channelizer *channelizer);

/* A bank with these taps, NULL: `count` designed ones. */
int penstock__channelizer_bank(struct channel_bank *bank, const penstock_channelizer_desc *desc, const float *taps,
                               size_t count);

/* All changes at once: the last one is the stream's prototype. */
void penstock__channelizer_settle(struct channelizer *channelizer);

/* ---- channelizer_choose.c ---- */

/* What "auto" is: "prefer:" and the name of the device that is the fastest. */
int penstock__channelizer_choose(char device[64], const struct channelizer_order *order);

/* ---- channelizer_handover.c ---- */

/* After the bank and the selection are made. */
int penstock__channelizer_make_engine(struct channelizer *channelizer, const char *device);

/* Between two frames: goes over to the device that is ready by now. */
void penstock__channelizer_collect(struct channelizer *channelizer);

/* ---- channelizer_device.c ---- */

/* Of the kind's table. */
extern const struct penstock__device_source penstock__channelizer_device_source;
int penstock__channelizer_device_work(penstock_stream *stream, struct penstock__device_work *work);

/* ---- channelizer_live.c ---- */

/* Other channels, from the next frame on. */
int penstock__channelizer_select(struct channelizer *channelizer, const size_t *select, size_t select_count);

int penstock__channelizer_set_max_latency(penstock_stream *stream, double max_latency_s);
void penstock__channelizer_get_stats(const penstock_stream *stream, penstock_stream_stats *stats);

#endif
