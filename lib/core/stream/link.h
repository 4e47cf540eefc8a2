/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streams whose results are the items of others: penstock_stream_link(). What one gives is held in the link until the
 * other one takes it, so that nothing is lost where a stream must wait for its results to be pulled.
 */
#ifndef PENSTOCK_CORE_LINK_H
#define PENSTOCK_CORE_LINK_H

#include "core/stream/device_link.h"

struct penstock__link {
    penstock_stream *from, *to;
    size_t channel; /* of `from`; SIZE_MAX: its whole items */
    char *held;     /* bytes of results, of which `to` has those before `at` */
    size_t at, bytes, room;
    size_t skip; /* bytes of what comes next that `to` has already: of a result a part of which it had on the device */
    struct penstock__device_link *device; /* its way on a device, or NULL */
    struct penstock__link *following;     /* of the same stream */
};

/* Whether items or results are the caller's: PENSTOCK_ERR_STATE with text where they are a link's. */
int penstock__link_free_in(const char *call, const penstock_stream *stream);
int penstock__link_free_out(const char *call, const penstock_stream *stream);

/* Hands the results of a stream on, and those of the streams behind it, as far as they go; `wait` as for a pull. What
 * was flushed or finished is so too behind it, once all has gone on. */
int penstock__link_move(penstock_stream *from, bool wait);

/* The same of all streams before it. */
int penstock__link_feed(penstock_stream *to, bool wait);

/* A flush, or the end of the items of a stream, goes on to those behind it. */
int penstock__link_end(penstock_stream *from, enum penstock__lent_end end);

/* What is on its way on a device is taken back. */
void penstock__link_settle(penstock_stream *from);

/* The same at an end, but what is complete goes on there before. False: results of the last stream must be read first;
 * the end comes then, where they are pulled, and nothing is taken before. */
bool penstock__link_end_device(penstock_stream *from, enum penstock__lent_end end);

/* Resets all streams behind it. */
void penstock__link_reset(penstock_stream *from);

/* In whose memory its items come, as things are; or NULL. */
const char *penstock__link_device(const penstock_stream *to);

/* It is linked to nothing any more; those behind it go on by themselves. */
void penstock__link_cut(penstock_stream *stream);

#endif
