/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What a kind of stream offers where its results stay in the device's memory on their way to another stream's items
 * (core/stream/device_link.h). The one who gives makes results a batch at a time, in rings whose samples stay with it
 * until the results were used up: so what fails on the way is made again, of the same samples, by the ways it has
 * besides.
 */
#ifndef PENSTOCK_CORE_DEVICE_ENDS_H
#define PENSTOCK_CORE_DEVICE_ENDS_H

#include "core/device/buffer.h"

/* What a batch of the one who gives can be. */
struct penstock__device_shape {
    struct penstock_device *device;
    size_t values, blocks; /* results of a block, and blocks of a full batch */
    unsigned batches;      /* one that gathers, and others that may be on their way or be kept */
    size_t unit;           /* results are to be used up in multiples of that many; 0: in any */
};

struct penstock__device_source {
    /* False: it makes nothing on a device alone, as it is now. */
    bool (*shape)(const penstock_stream *stream, struct penstock__device_shape *shape);

    /* Bytes of the samples that so many blocks read; 0: they are there. */
    size_t (*bytes)(const penstock_stream *stream, size_t blocks);

    /* Whether full batches wait for `make`, instead of being sent. */
    void (*share)(penstock_stream *stream, bool shared);

    /* Whether all that was made was given, so that the next results are those of the next batch. */
    bool (*idle)(const penstock_stream *stream);

    /* Whether a full batch waits, whether it can be made like this, and whether the next one has memory. */
    bool (*full)(const penstock_stream *stream);
    bool (*can_make)(penstock_stream *stream);
    bool (*room)(const penstock_stream *stream);

    /* Whether what waits for a full batch was to be given by now. */
    bool (*overdue)(const penstock_stream *stream);

    /* Blocks of the batch that `make` is to make, up to `most`. NULL: that many. */
    size_t (*blocks)(const penstock_stream *stream, size_t most);

    /* Whether blocks are complete, a full batch of them or not, that can be made where nothing follows them for now.
     * NULL: full batches alone are made. */
    bool (*rest)(const penstock_stream *stream);

    /* Number of the batch that gathers. */
    unsigned (*number)(const penstock_stream *stream);

    /* Enqueues its first `blocks` blocks: samples to `in`, results to `out`. The samples gather in the next one's
     * memory then. After an error all is as it was. */
    int (*make)(penstock_stream *stream, size_t blocks, penstock_buffer *in, penstock_buffer *out,
                penstock_queue *queue);

    /* So many more results of these batches were used up: counts them, and frees batches that have no other. */
    void (*used)(penstock_stream *stream, size_t results);

    /* Those that were not are to be made again, and given as all others. Values of the first of them that were used up
     * all the same: where values are used up one by one, and given by several. */
    size_t (*take_back)(penstock_stream *stream);
};

/*
 * That of a stream in the middle of a chain on one device: of what the link before it has there it makes, group by
 * group, the values of the link behind. Whatever was not used up at the chain's end is made again by the stream at its
 * beginning, which has kept the samples. Of kinds with a batcher whose results are items, and these complex floats.
 */
extern const struct penstock__device_source penstock__device_through;

#endif
