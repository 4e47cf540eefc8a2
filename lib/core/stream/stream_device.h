/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streams whose items are in a device's memory already, and whose results stay there: penstock_stream_enqueue(). A kind
 * says how its samples make groups, each of which gives some results, and puts groups into a queue. What is held
 * between two calls, which the next groups begin with, is in the device's memory too.
 */
#ifndef PENSTOCK_CORE_STREAM_DEVICE_H
#define PENSTOCK_CORE_STREAM_DEVICE_H

#include "backends/backend.h"

#include <penstock/stream.h>

struct penstock__device_work {
    size_t samples; /* of an item */
    size_t sample_bytes, result_bytes;
    size_t lead;       /* zeros ahead of the first sample */
    size_t step, span; /* samples from one group to the next, and of one */
    size_t results;    /* of a group */
    uint64_t total;    /* results in all of what was taken, at the end; no more than whole groups have: 0 */

    /* Groups from number `first` on, whose samples `in` begins with and is as long as, to `out`. */
    int (*put)(penstock_stream *stream, uint64_t first, size_t groups, const penstock_buffer *in, penstock_buffer *out,
               penstock_queue *queue);
};

struct penstock__enqueued;

/* PENSTOCK_ERR_STATE with text where items of the stream are enqueued, so that it is neither pushed nor pulled. */
int penstock__enqueued_free(const char *call, const penstock_stream *stream);

/* Frees what is held of them. */
void penstock__enqueued_reset(penstock_stream *stream);

#endif
