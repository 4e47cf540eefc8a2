/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streams that are a plan fed batch by batch. What they share is here: opening and freeing, items in and out, lent
 * memory, flush, finish, latency, a change of plan, what is known. A kind is a table: what its description must be,
 * which plan it makes, how items become the plan's samples and its results items. What is left NULL is not needed.
 */
#ifndef PENSTOCK_CORE_BATCHED_H
#define PENSTOCK_CORE_BATCHED_H

#include "core/stream/batcher.h"
#include "core/stream/stream.h"

#define PENSTOCK__BATCH_BYTES   ((size_t)8 << 20)
#define PENSTOCK__BATCHED_SLOTS 3 /* on their way, while one more is filled */

/* What an object of such a kind begins with. */
struct penstock__batched {
    struct penstock_stream stream;
    char *device; /* as it was asked for */
    penstock_plan *plan;
    struct penstock__batcher *batcher;
    size_t unit;                             /* samples of the plan that an item in is */
    double max_latency_s;                    /* of the description */
    uint64_t fallbacks, cpu_while_compiling; /* of plans that are gone */
};

struct penstock__batched_kind {
    struct penstock__stream_kind calls; /* first: a stream's `kind` points here */
    size_t bytes;                       /* of the object */
    const char *desc_name;              /* "penstock_spectrum_desc" */
    size_t desc_at, desc_bytes;         /* its place in the object, where it is kept */

    int (*check)(void *desc);                      /* fills in defaults, too */
    int (*make)(struct penstock__batched *stream); /* sizes and lends_* of the stream, `unit`, `max_latency_s`, and what
                                                      the kind has besides; `unit` is 1 before */
    int (*plan)(const struct penstock__batched *stream, penstock_plan **plan);
    void (*forget)(struct penstock__batched *stream); /* the caller's pointers in the description */
    void (*reset)(struct penstock__batched *stream);
    void (*cancel)(struct penstock__batched *stream); /* as a stream's, of what the kind has besides the plan */
    void (*free)(struct penstock__batched *stream);   /* after what make() did, or a part of it */

    /* Of penstock__batched_push(): where the items are the plan's samples already, or NULL; then they are written, from
     * number `first` on. */
    const void *(*ready)(const struct penstock__batched *stream, const struct penstock__items *in);
    void (*fill)(const struct penstock__batched *stream, const struct penstock__items *in, void *to, size_t first,
                 size_t count);

    /* Of penstock__batched_pull(): `count` results of the plan, each an item. NULL: they are copied. */
    void (*give)(const struct penstock__batched *stream, void *to, const void *from, size_t count);

    /* Of penstock__batched_run(): `count` items straight through the plan. NULL: an item in is a frame of it, an item
     * out a result. */
    int (*straight)(struct penstock__batched *stream, const void *in, size_t count, void *out);
};

int penstock__batched_open(penstock_stream **stream, penstock_context *context, const void *desc, const char *device,
                           const struct penstock__batched_kind *kind);

static inline struct penstock__batched *penstock__batched_of(penstock_stream *stream)
{
    return (struct penstock__batched *)(void *)stream;
}

/* From the next group on, as penstock__batcher_set_plan(); the present plan is freed. */
void penstock__batched_change(struct penstock__batched *stream, penstock_plan *next);

/* ---- for the tables of kinds ---- */

/* Takes items from number `*taken` on. */
int penstock__batched_push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken);
int penstock__batched_pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait,
                           size_t *count);
int penstock__batched_run(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                          const struct penstock__room *out, size_t capacity, size_t *given);
int penstock__batched_acquire(penstock_stream *stream, void **to, size_t *room);
int penstock__batched_commit(penstock_stream *stream, size_t count);
int penstock__batched_peek(penstock_stream *stream, bool wait, const void **from, size_t *count);
void penstock__batched_release(penstock_stream *stream, size_t count);
int penstock__batched_flush(penstock_stream *stream);
int penstock__batched_finish(penstock_stream *stream);
void penstock__batched_reset(penstock_stream *stream);
void penstock__batched_cancel(penstock_stream *stream);
void penstock__batched_free(penstock_stream *stream);
int penstock__batched_set_max_latency(penstock_stream *stream, double max_latency_s);
double penstock__batched_due_s(const penstock_stream *stream);
void penstock__batched_get_info(const penstock_stream *stream, penstock_stream_info *info);
void penstock__batched_get_stats(const penstock_stream *stream, penstock_stream_stats *stats);

/* Where items are the plan's samples as they are: `lends_in`; and its results items: `lends_out`, too. */
struct penstock__batcher *penstock__batched_device_batcher(penstock_stream *stream);
int penstock__batched_device_work(penstock_stream *stream, struct penstock__device_work *work);

/* What every such kind has. */
#define PENSTOCK__BATCHED_LIFE                                                                              \
    .commit = penstock__batched_commit, .flush = penstock__batched_flush, .reset = penstock__batched_reset, \
    .cancel = penstock__batched_cancel, .free = penstock__batched_free,                                     \
    .set_max_latency = penstock__batched_set_max_latency, .get_stats = penstock__batched_get_stats

/* And what those have besides of which a result of the plan is an item. */
#define PENSTOCK__BATCHED_ITEMS                                                                               \
    .push = penstock__batched_push, .pull = penstock__batched_pull, .acquire = penstock__batched_acquire,     \
    .peek = penstock__batched_peek, .release = penstock__batched_release, .finish = penstock__batched_finish, \
    .due_s = penstock__batched_due_s, .get_info = penstock__batched_get_info, .run = penstock__batched_run,   \
    .device_work = penstock__batched_device_work

#endif
