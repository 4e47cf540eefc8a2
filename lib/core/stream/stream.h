/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What all streams have in common. A kind is a table of functions; its object begins with a struct penstock_stream. The
 * public calls check their arguments, then call the kind: there is a stream, no array is NULL or impossibly large, and
 * nothing is pushed behind the end.
 */
#ifndef PENSTOCK_CORE_STREAM_H
#define PENSTOCK_CORE_STREAM_H

#include "core/stream/lend.h"
#include "core/stream/meter.h"

#include <penstock/context.h>
#include <penstock/stream.h>

#define PENSTOCK__LINK_CHANNELS 1024 /* of a stream whose channels are linked one by one */
#define PENSTOCK__SOFT_BITS     1000 /* values that are soft bits in signed bytes: beside those of formats */

struct penstock__link;
struct penstock__batcher;
struct penstock__device_source;
struct penstock__device_work;
struct penstock__enqueued;

/* Items one behind the other, or an array for each channel; the other one is NULL. */
struct penstock__items {
    const void *whole;
    const void *const *channels;
};

struct penstock__room {
    void *whole;
    void *const *channels;
};

struct penstock__stream_kind {
    const char *name;
    bool takes_all; /* push takes all, or fails: `taken` may be NULL. It counts what it takes by
                       penstock__stream_took(), as it may work on some before it takes more */

    /* `*taken` is 0 before; what is taken after an error stays so. The generic part counts it. */
    int (*push)(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken);

    /* `*count` is 0 before. The kind counts what it gives: penstock__stream_gave(). NULL: results are frames. */
    int (*pull)(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count);

    /* Both, where that is more than one after the other; counts what it takes and gives itself. NULL: it is not. */
    int (*run)(penstock_stream *stream, const void *in, size_t count, size_t *taken, const struct penstock__room *out,
               size_t capacity, size_t *given);

    /* Its own memory, where the stream's `lends_in`, `lends_out` say so: as the public calls, which count items in. */
    int (*acquire)(penstock_stream *stream, void **to, size_t *room);
    int (*commit)(penstock_stream *stream, size_t count);
    int (*peek)(penstock_stream *stream, bool wait, const void **from, size_t *count);
    void (*release)(penstock_stream *stream, size_t count); /* counts what it gives */

    int (*flush)(penstock_stream *stream);  /* or NULL: what is complete is ready anyway */
    int (*finish)(penstock_stream *stream); /* may come again */
    void (*reset)(penstock_stream *stream);
    void (*cancel)(penstock_stream *stream); /* what threads of the library make for it; NULL: they never do */
    void (*free)(penstock_stream *stream);
    int (*set_max_latency)(penstock_stream *stream, double max_latency_s); /* 0 or more; NULL: nothing ever waits */
    double (*due_s)(const penstock_stream *stream);
    void (*get_info)(const penstock_stream *stream, penstock_stream_info *info); /* device, batch */
    void (*get_stats)(const penstock_stream *stream,
                      penstock_stream_stats *stats); /* fallbacks, cpu_while_compiling, drops */

    /* Where results can stay on the device, and where items can come from there: core/stream/device_link.h. NULL:
     * never; the second one gives NULL while they cannot. */
    const struct penstock__device_source *device_source;
    struct penstock__batcher *(*device_batcher)(penstock_stream *stream);

    /* How the caller's items in a device's memory become results there: core/stream/stream_device.h. An error with text
     * where they cannot, as the stream is now. NULL: never. */
    int (*device_work)(penstock_stream *stream, struct penstock__device_work *work);
};

struct penstock_stream {
    const struct penstock__stream_kind *kind;
    penstock_context *context;
    size_t in_bytes, out_bytes, in_channels, out_channels; /* as penstock_stream_info */
    uint64_t taken, given;                                 /* items */
    uint64_t handed_over;                                  /* of those taken: that came on the device */
    unsigned forks;                                        /* of the process that has started it: penstock__forks() */
    bool finished;
    unsigned in_values, out_values; /* 1 + the penstock_format that items are made of, or results;
                                       PENSTOCK__SOFT_BITS; 0: neither */
    bool lends_in, lends_out; /* the kind's acquire and commit, peek and release serve; else core/stream/lend.c does */
    struct penstock__lent lent;
    struct penstock__enqueued *enqueued;   /* items in a device's memory: core/stream/stream_device.h; else NULL */
    struct penstock__link *links, *source; /* where results go, and whence items come: core/stream/link.h; else NULL */
    enum penstock__lent_end passing;       /* what goes on to the links once all results have */
    void *unlinked;                        /* values of channels that go nowhere */
    struct penstock__meter meter;
};

/* As penstock_stream_free(), and waits for all that it has to wait for. */
void penstock__stream_free(penstock_stream *stream);

/* To the first item; the rest of the object is the kind's. */
void penstock__stream_start(penstock_stream *stream);

/* Items that push or run took, at a time. */
void penstock__stream_took(penstock_stream *stream, size_t items, double now);

/* Items that pull or run gives; the first was complete once `first_end` items were in, each next one `step` later. */
void penstock__stream_gave(penstock_stream *stream, size_t items, uint64_t first_end, uint64_t step);

/* To the kind, and counted. */
int penstock__stream_take(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken);

/* PENSTOCK_ERR_ARGUMENT with text where a call of one kind gets no stream, or one of another kind. */
int penstock__stream_is(const penstock_stream *stream, const struct penstock__stream_kind *kind, const char *call);

/* PENSTOCK_ERR_DEVICE with text where this process was forked, and samples of the stream are in the parent's alone. */
int penstock__stream_here(const penstock_stream *stream);

/* PENSTOCK_ERR_STATE with text where the stream was finished. */
int penstock__stream_goes_on(const penstock_stream *stream);

#endif
