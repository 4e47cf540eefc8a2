/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Items through linked streams in pieces at random, for the tests of links. */
#ifndef PENSTOCK_TEST_LINK_RUN_H
#define PENSTOCK_TEST_LINK_RUN_H

#include "test.h"

#include <penstock/penstock.h>

#define LATENCY_S 0.5 /* in which a busy machine fills a batch, too */

static size_t room, most_piece; /* bytes of results, and items of a push */
static bool waits_seldom;       /* a third of the pulls waits; or, for one item, one in 24 */

static inline penstock_stream_stats stats_of(const penstock_stream *stream)
{
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    return stats;
}

static inline penstock_stream_info info_of(const penstock_stream *stream)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    CHECK_OK(penstock_stream_get_info(stream, &info));
    return info;
}

/* Pulls what there is, up to `most` items at a time. */
static inline int pull(penstock_stream *last, char *out, size_t *made, size_t most, bool wait)
{
    const size_t bytes = info_of(last).out_bytes;
    size_t given = 1;
    int status = PENSTOCK_OK;
    for (; given && !status; *made += given * bytes) {
        const size_t left = (room - *made) / bytes;
        status = penstock_stream_pull(last, out + *made, most < left ? most : left, wait, &given);
    }
    return status;
}

/* Items `at` .. `end` in pieces at random (seed 0: as large as can be), without an end. */
static inline int push(penstock_stream *first, penstock_stream *last, const void *in, size_t at, size_t end, char *out,
                       size_t *made, uint64_t seed)
{
    const size_t bytes = info_of(first).in_bytes;
    int status = PENSTOCK_OK;
    while (at < end && !status) {
        size_t piece = seed ? test_random(&seed) % most_piece + 1 : end - at, taken = 0, given = 0;
        piece = piece < end - at ? piece : end - at;
        status = penstock_stream_push(first, (const char *)in + at * bytes, piece, &taken);
        at += taken;
        if (!status && (taken < piece || (seed && test_random(&seed) % 2)))
            status =
                pull(last, out, made, seed ? test_random(&seed) % 9 + 1 : SIZE_MAX, !waits_seldom && seed % 3 == 1);
        if (!status && waits_seldom && seed % 3 == 1 && test_random(&seed) % 8 == 0) {
            status = penstock_stream_pull(last, out + *made, 1, true, &given);
            *made += given * info_of(last).out_bytes;
        }
    }
    return status;
}

static inline int run(penstock_stream *first, penstock_stream *last, const void *in, size_t count, char *out,
                      size_t *made, uint64_t seed)
{
    *made = 0;
    int status = push(first, last, in, 0, count, out, made, seed);
    if (!status)
        status = penstock_stream_finish(first);
    return status ? status : pull(last, out, made, SIZE_MAX, true);
}

/* With a flush behind the first `at` items. */
static inline int run_flushed(penstock_stream *first, penstock_stream *last, const void *in, size_t at, size_t count,
                              char *out, size_t *made)
{
    *made = 0;
    int status = push(first, last, in, 0, at, out, made, 2);
    if (!status)
        status = penstock_stream_flush(first);
    if (!status)
        status = push(first, last, in, at, count, out, made, 2);
    if (!status)
        status = penstock_stream_finish(first);
    return status ? status : pull(last, out, made, SIZE_MAX, true);
}

#endif
