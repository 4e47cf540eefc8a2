/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The inside of a filter: samples gather behind the history of the block before; what fails leaves them where they are,
 * and is tried again. Where the device takes several batches at once, a full one is sent and samples gather in the next
 * one's memory; values come from what was made at once, then from batches on their way, then from what gathers.
 *
 * Where the device is not ready at once, a filter of its own is made there by another thread, while this one works on
 * the CPU. Between two blocks this one takes over its engine, and with it lengths, taps' spectra and memory; counts go
 * on. The other one's blocks begin at the sample at which the CPU's ended.
 */
#ifndef PENSTOCK_OPS_FILTER_STREAM_H
#define PENSTOCK_OPS_FILTER_STREAM_H

#include "core/choice/cpu_while_compiling.h"
#include "core/stream/meter.h"
#include "core/stream/rest.h"
#include "core/stream/ring.h"
#include "core/stream/stream.h"
#include "ops/filter/filter_engine.h"

/* What is one channel's own. */
struct filter_line {
    uint64_t phase;           /* of the description's shift, at sample 0 */
    struct filter_taps *taps; /* those that hold at the next block's start, and later ones */
    const struct filter_taps *newest;
};

struct filter_stream {
    struct penstock_stream stream;
    penstock_filter_desc desc; /* defaults filled in; pointers are not kept */
    struct filter_engine *engine;
    const struct filter_shape *shape; /* the engine's */
    struct filter_line *lines;
    struct filter_channel *run; /* what the engine is told of each */
    size_t channels;

    struct filter_order *order;          /* what it is made from, while it may go over to a device; else NULL */
    struct penstock__async_build *build; /* the filter on that device, or NULL */
    struct penstock__standby standby;
    uint64_t cpu_while_compiling; /* times that blocks went through the CPU's engine then */

    struct penstock__ring ring; /* batches, of which the last one gathers; items are values of a channel, tickets first
                                   blocks */
    size_t room;                /* samples that each has memory for */
    char *in;                   /* frames that gather: within the memory of that one */
    size_t whole;               /* samples of a full batch of frames: from there on a pull gives without waiting */
    size_t most;                /* samples that gather before something is pulled, >= whole */
    size_t filled;              /* samples there, history included */
    size_t due;                 /* complete blocks that a pull gives without waiting */
    double complete;            /* the time since when there is a complete block, where that is of interest; else 0 */
    uint64_t blocks;            /* that went through the engine or are on their way */

    char *made;          /* blocks whose values were not pulled at once, channel after channel */
    size_t made_blocks;  /* room there, of each channel */
    size_t ready, given; /* values there, and how many of them were pulled */
    bool flushed;        /* they are of a block that goes through the engine again */
    size_t early;        /* values of the next blocks that were pulled already */
    uint64_t flush_to;   /* values before this one are to come at once */

    struct penstock__rest rest; /* of a planar push; counted as pushed */
    uint64_t total;             /* values of the whole stream, once finished */

    bool shared; /* full batches wait for a link that keeps their values on the device: filter_device.c */
};

extern const struct penstock__stream_kind penstock__filter_kind;
extern const struct penstock__device_source penstock__filter_device_source;
/* Values of all samples that were taken, at the end: as many as the channel with the most taps needs. */
uint64_t penstock__filter_total(const struct filter_stream *filter);

int penstock__filter_device_work(penstock_stream *stream, struct penstock__device_work *work);

static inline struct filter_stream *filter_of(penstock_stream *stream)
{
    return (struct filter_stream *)(void *)stream;
}

static inline const struct filter_stream *const_filter_of(const penstock_stream *stream)
{
    return (const struct filter_stream *)(const void *)stream;
}

/* Tells the meter of samples that came at a time, and of values that were given since it was told last. */
void penstock__filter_measure(struct filter_stream *filter, double came);

/* And of blocks that went through the engine. */
void penstock__filter_measure_blocks(struct filter_stream *filter, size_t blocks, double began);

/* Back to the first sample. */
void penstock__filter_rewind(struct filter_stream *filter);

/* A set of taps for a channel, with what later changes of shape or shift need of them: filter_changes.c. */
int penstock__filter_set_new(struct filter_taps **taps, const struct filter_stream *filter, size_t channel,
                             const penstock_filter_channel *asked, struct filter_shift shift);

/* Forgets sets of taps until `last`, which becomes the first. */
void penstock__filter_drop_taps(struct filter_line *line, const struct filter_taps *last);

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What a channel has of our memory for values. */
static inline char *penstock__filter_made(const struct filter_stream *filter, size_t channel)
{
    const struct filter_shape *shape = filter->shape;
    return filter->made + channel * filter->made_blocks * shape->values * shape->value_bytes;
}

/* Where channels' values go: from value `at` on of each array; to our memory where `values` is NULL. */
struct filter_output {
    void *const *values;
    size_t at;
};

/* Blocks through the engine that stay the next ones: frames of `near` ones are in our memory from sample `start` on,
 * those of the others from `far` on. */
int penstock__filter_compute(struct filter_stream *filter, struct filter_blocks blocks,
                             const struct filter_output *output);

/* The next `count` blocks: frames of `near` ones in our memory, of the others from `far` on. */
int penstock__filter_run_blocks(struct filter_stream *filter, size_t count, size_t near, const void *far,
                                const struct filter_output *output);

/* Room for samples up to the `end`th one that gathers: where they would pass the memory's end they go to its front. */
void penstock__filter_make_way(struct filter_stream *filter, size_t end);

/* Blocks whose frames are all there in `samples` samples. */
size_t penstock__filter_blocks_in(const struct filter_stream *filter, uint64_t samples);

/* Samples of a push. */
struct filter_source {
    const void *samples;
    penstock_format format;
    size_t total;
};

/* Samples `first` .. `first` + `count` - 1 of these to place `at` of our memory. */
void penstock__filter_copy_in(struct filter_stream *filter, size_t at, const struct filter_source *source, size_t first,
                              size_t count);

/* As many samples, from `*taken` on, as there is room for; planar ones all at once or, where some are still kept, none.
 * An error takes nothing. */
int penstock__filter_take(struct filter_stream *filter, const void *samples, size_t total, size_t *taken);

/* Of those that are kept, as many as there is room for. */
void penstock__filter_take_rest(struct filter_stream *filter);

/* Forgets taps that no block from `block` on has. */
void penstock__filter_taps_passed(struct filter_stream *filter, uint64_t block);

/* What goes with a device and has room for `least` samples at least, in place of what was there. */
int penstock__filter_buffers(struct filter_stream *filter, size_t least);

/* ---- of the kind's table: filter_stream.c, filter_values.c, filter_stats.c ---- */

int penstock__filter_push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken);
int penstock__filter_finish(penstock_stream *stream);
int penstock__filter_flush(penstock_stream *stream);
int penstock__filter_pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait,
                          size_t *count);
int penstock__filter_run(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                         const struct penstock__room *out, size_t capacity, size_t *given);
int penstock__filter_acquire(penstock_stream *stream, void **to, size_t *room);
int penstock__filter_commit(penstock_stream *stream, size_t count);
int penstock__filter_peek(penstock_stream *stream, bool wait, const void **from, size_t *count);
void penstock__filter_release(penstock_stream *stream, size_t count);
double penstock__filter_due_s(const penstock_stream *stream);
void penstock__filter_get_stats(const penstock_stream *stream, penstock_stream_stats *stats);

/* ---- the CPU until the device is ready: filter_handover.c ---- */

/* A description whose arrays are its own. */
struct filter_order {
    penstock_context *context;
    penstock_filter_desc desc; /* checked */
    penstock_filter_channel *channels;
};

int penstock__filter_order_new(struct filter_order **order, penstock_context *context,
                               const penstock_filter_desc *desc);
void penstock__filter_order_free(struct filter_order *order);

/* Between two blocks: goes over to the device that is ready by now. */
void penstock__filter_collect(struct filter_stream *filter);

/* ---- batches on their way: filter_queue.c ---- */

/* The first `blocks` blocks of the batch that gathers are on their way: samples gather in the next one. */
void penstock__filter_queue_next(struct filter_stream *filter, size_t blocks);

/* Sends the batch that gathers where it is full and can be sent; samples gather in the next one then. */
void penstock__filter_queue_send(struct filter_stream *filter);

/* The oldest batch on its way, where its values are there, or if `wait` is set, or it has to be read now; else NULL.
 * After an error it stays, and is tried again. */
int penstock__filter_queue_ready(struct filter_stream *filter, bool wait, struct penstock__ring_batch **ready);

/* `count` of its values were read. */
void penstock__filter_queue_release(struct filter_stream *filter, size_t count);

/* Values of the oldest batch on its way, `*count` of them, at most `room`: if `wait` is set, or it has to be read now.
 * After an error it stays, and is tried again. */
int penstock__filter_queue_give(struct filter_stream *filter, const struct filter_output *output, size_t room,
                                bool wait, size_t *count);

/* Waits for all; what failed is done again when its values are asked for. */
void penstock__filter_queue_settle(struct filter_stream *filter);

/* Whether there are any. */
static inline bool penstock__filter_in_flight(const struct filter_stream *filter)
{
    return filter->ring.oldest != filter->ring.filling;
}

#endif
