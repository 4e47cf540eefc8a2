/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One pass of items through a stream, from reset to end: pushed and pulled, by two calls or one, or
 * through the memory that it lends. */
#ifndef PENSTOCK_APPS_CASES_PASS_H
#define PENSTOCK_APPS_CASES_PASS_H

#include <penstock/stream.h>

struct pass {
    penstock_stream *stream, *last; /* `last`: of a chain, which results come from; NULL: the same */
    const void *in;
    size_t items, in_bytes;
    char *out; /* by item, or by channel: `room` values of each */
    size_t room, out_bytes;
    const void **in_channels; /* places for pointers where `in` is one channel after the other, or NULL */
    void **channels;          /* likewise where results are pulled by channel */
    size_t channel_count;     /* of either */
    bool acquire, run;        /* through the memory that the stream lends; pushed and pulled in one call */
    bool *filled;             /* whether that memory has items of an earlier pass, which are left there if chunks are
                                 large; true from the end of the pass on */
    size_t random_chunk;      /* chunks of random size up to this; then every item is written and read. 0: large ones,
                                 whose results in lent memory are left there */
};

/* `*count` items came out; those beyond `room` are not asked for. A library status. */
int pass_run(const struct pass *pass, size_t *count);

#endif
