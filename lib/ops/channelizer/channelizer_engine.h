/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames of the filter bank by the polyphase sums and an FFT plan.
 *
 * On the CPU each thread has a plan of its own and takes some frames through sums and transforms while they are in its
 * cache: frames are made when they are asked for, where they are wanted. On other devices frames go in batches, several
 * on their way at once. Where the device sums while it loads, a batch is the stream's samples as they lie, which are in
 * use until it is done; else threads make the sums in the batch's own memory.
 */
#ifndef PENSTOCK_OPS_CHANNELIZER_ENGINE_H
#define PENSTOCK_OPS_CHANNELIZER_ENGINE_H

#include "core/plan/plan.h"
#include "core/stream/meter.h"
#include "core/stream/ring.h"
#include "ops/channelizer/channelizer_bank.h"

struct channelizer_engine {
    penstock_context *context;
    struct channel_bank bank;
    penstock_format wanted; /* of the samples, where the device can convert them as it sums */
    penstock_format format; /* in which they gather */
    const size_t *select;   /* NULL: all channels */
    size_t kept;
    penstock_plan **plans; /* on the CPU one a thread, else one */
    unsigned plan_count;
    size_t item;           /* frames that a thread takes at a time */
    size_t scratch_values; /* of a thread */
    size_t gathered;       /* of these for samples that are the caller's */
    penstock_cf32 *scratch;
    int *statuses; /* of each thread's last item */

    /* On other devices. */
    bool folds;                 /* the device sums */
    bool movable;               /* the CPU goes on where the device fails */
    size_t capacity;            /* frames of a batch; 0 on the CPU */
    struct penstock__ring ring; /* items are frames, tickets the plan's; `samples` is where samples that it reads lie
                                   ahead of those that gather, or SIZE_MAX */
    size_t starts[PENSTOCK__RING_MOST]; /* where they lie */
    uint64_t fallbacks;                 /* of plans that are gone */
    double max_latency_s;
    struct penstock__failure failure;
    struct penstock__meter *meter; /* or NULL */
};

/* Where frames go: one after the other, or a stream for each value of a frame. The other one is NULL. */
struct frame_sink {
    penstock_cf32 *frames;
    void *const *streams;
};

/* What a device is asked for that sums while it loads samples of the format. */
struct penstock_problem penstock__channelizer_engine_problem(const struct channel_bank *bank, penstock_format format);

/* `engine` holds context, bank, selection and the format that is wanted; `device` is a name, or "prefer:" and one.
 * After a failure too it is to be freed; bank and selection remain the caller's. */
int penstock__channelizer_engine_init(struct channelizer_engine *engine, double max_latency_s, const char *device);
void penstock__channelizer_engine_free(struct channelizer_engine *engine);

/* Whose memory samples should lie in; NULL: any. */
static inline struct penstock_device *penstock__channelizer_engine_memory(const struct channelizer_engine *engine)
{
    return engine->capacity || engine->folds ? penstock__plan_executor(engine->plans[0])->state.device : NULL;
}

static inline size_t penstock__channelizer_engine_sample(const struct channelizer_engine *engine)
{
    return penstock_format_bytes(engine->format);
}

/* ---- channelizer_frames.c ---- */

/* On the CPU: frames `first` .. `first + count` - 1 of the stream to the sink, from its frame `at` on. The first one's
 * window begins at `in`. Where `more` is not NULL, `held` samples lie there, and those behind them are the caller's, of
 * a push of `total` from its number `at` on. */
struct channelizer_windows {
    const penstock_cf32 *in;
    const void *more;
    penstock_format format;
    size_t held, at, total;
    uint64_t first;
    size_t count;
};
int penstock__channelizer_engine_run(struct channelizer_engine *engine, const struct channelizer_windows *windows,
                                     const struct frame_sink *sink, size_t at);

/* Sums of the first frames of a batch, by all threads, one frame's behind the other's. */
void penstock__channelizer_engine_fold(struct channelizer_engine *engine, const penstock_cf32 *in, uint64_t first,
                                       size_t count, penstock_cf32 *rows);

/* `count` whole frames to the sink, from its frame `at` on. */
void penstock__channelizer_engine_deliver(struct channelizer_engine *engine, const penstock_cf32 *frames, size_t count,
                                          const struct frame_sink *sink, size_t at);

/* ---- other devices: channelizer_queue.c ---- */

int penstock__channelizer_engine_ring(struct channelizer_engine *engine, size_t best_batch);

/* A plan for another prototype, of the engine's device; NULL where none is needed. */
int penstock__channelizer_engine_plan(const struct channelizer_engine *engine, const struct channel_bank *bank,
                                      penstock_plan **plan);

/* It takes the place of the one before, once that has done what was sent. */
void penstock__channelizer_engine_set_plan(struct channelizer_engine *engine, penstock_plan *plan);

void penstock__channelizer_engine_set_meter(struct channelizer_engine *engine, struct penstock__meter *meter);

/* Frames whose first one's window is sample `start` of `in` on: full batches, or with `all` what is left too, as far as
 * there is room; how many. `since`: when the first of them was complete. */
struct channelizer_frames {
    const char *in;
    size_t start, count;
    uint64_t first;
    bool all;
    double since;
};
int penstock__channelizer_engine_send(struct channelizer_engine *engine, const struct channelizer_frames *frames,
                                      size_t *sent);

/* The batch that is filled is on its way, with `count` frames of samples from `start` on. */
void penstock__channelizer_engine_sent(struct channelizer_engine *engine, size_t start, size_t count, double since);

/* Batches that were handed over to a link go to the device by the plan's own slots, from their samples in `in`. Tickets
 * are the first frames' numbers before. A failure is kept until its turn comes. */
void penstock__channelizer_engine_send_again(struct channelizer_engine *engine, const char *in);

/* Waits for what reads samples that lie ahead, but before place `end`; SIZE_MAX: for all. A failure is kept until its
 * turn comes. */
void penstock__channelizer_engine_settle(struct channelizer_engine *engine, size_t end);

/* What gathers goes on from the memory's front. */
void penstock__channelizer_engine_moved(struct channelizer_engine *engine);

/* The place up to which samples may gather while nothing is waited for. */
size_t penstock__channelizer_engine_free_up_to(struct channelizer_engine *engine);

/* Frames in order, waited for if `wait` is set or nothing more can be sent before; and `count` of these were read. */
int penstock__channelizer_engine_ready(struct channelizer_engine *engine, bool wait, const penstock_cf32 **from,
                                       size_t *count);

/* After a failure the frames before it are given, then it is, until a reset. */
void penstock__channelizer_engine_reset(struct channelizer_engine *engine);

#endif
