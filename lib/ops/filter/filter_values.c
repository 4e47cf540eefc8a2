/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Values out of a filter, and samples in and values out at once. */
#include "ops/filter/filter_stream.h"

#include <math.h>
#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter: " __VA_ARGS__)

/* ---------------------------------------------------------------- blocks ---------------------- */

/* Blocks of our own samples. Those of a batch that is sent begin where its memory does. */
static int run_gathered(struct filter_stream *filter, size_t count, const struct filter_output *output)
{
    size_t bytes = filter->shape->sample_bytes, used = count * filter->shape->block;
    int status = penstock__filter_run_blocks(filter, count, count, NULL, output);
    if (status)
        return status;
    filter->in += used * bytes;
    filter->filled -= used;
    if (filter->ring.count > 1)
        penstock__filter_make_way(filter, SIZE_MAX / 2);
    return PENSTOCK_OK;
}

/* Blocks into our memory; the values that were pulled early are not given again. */
static int make_values(struct filter_stream *filter, size_t count)
{
    int status = run_gathered(filter, count, &(struct filter_output){.values = NULL});
    if (status)
        return status;
    filter->ready = count * filter->shape->values;
    filter->given = smaller(filter->early, filter->ready);
    filter->early -= filter->given;
    filter->flushed = false;
    return PENSTOCK_OK;
}

/* The next values of a block that is not complete, which the same samples go through again later. Between a complete
 * block's values and its transform's end lies less than a block: there are two such blocks at the most. */
static int make_early_values(struct filter_stream *filter)
{
    const struct filter_shape *shape = filter->shape;
    size_t skip = filter->early / shape->values, bytes = shape->sample_bytes;
    size_t start = skip * shape->block, end = start + shape->frame;
    penstock__filter_make_way(filter, end);
    struct filter_blocks one = {
        .first = filter->blocks + skip, .count = 1, .in = filter->in + start * bytes, .near = 1};
    memset(filter->in + filter->filled * bytes, 0, (end - filter->filled) * bytes);
    int status = penstock__filter_compute(filter, one, &(struct filter_output){.values = NULL});
    if (status)
        return status;
    filter->flushed = true;
    filter->given = filter->early % shape->values;
    filter->ready = filter->given + (size_t)(filter->flush_to - filter->stream.given);
    filter->ready = smaller(filter->ready, shape->values);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- values out ------------------ */

double penstock__filter_due_s(const penstock_stream *stream)
{
    const struct filter_stream *filter = const_filter_of(stream);
    if (filter->stream.finished && filter->stream.given == filter->total)
        return (double)INFINITY;
    if (filter->due || filter->given < filter->ready || filter->stream.given < filter->flush_to ||
        filter->stream.finished)
        return 0;
    if (penstock__filter_in_flight(filter) && filter->ring.batches[filter->ring.oldest].state != PENSTOCK__RING_HANDED)
        return penstock__ring_due_s(&filter->ring, filter->desc.max_latency_s);
    if (filter->complete == 0)
        return (double)INFINITY;
    double left = filter->complete + filter->desc.max_latency_s - penstock__now_s();
    return left > 0 ? left : 0;
}

/* Zeros after the last sample, for the frames that end behind it. */
static size_t blocks_to_the_end(struct filter_stream *filter)
{
    const struct filter_shape *shape = filter->shape;
    uint64_t left = (filter->total - filter->stream.given + filter->early + shape->values - 1) / shape->values;
    size_t rows = penstock__filter_engine_rows(filter->engine), bytes = shape->sample_bytes;
    size_t count = left < rows ? (size_t)left : rows;
    size_t end = count ? penstock__filter_engine_samples(filter->engine, count) : 0;
    if (filter->filled < end) {
        penstock__filter_make_way(filter, end);
        memset(filter->in + filter->filled * bytes, 0, (end - filter->filled) * bytes);
        filter->filled = end;
    }
    return count;
}

/* Complete blocks whose values may be given now. */
static size_t blocks_to_give(struct filter_stream *filter, bool wait)
{
    if (filter->stream.finished && !penstock__rest_count(&filter->rest))
        return blocks_to_the_end(filter);
    if (wait || filter->stream.finished || (filter->complete > 0 && penstock__filter_due_s(&filter->stream) <= 0) ||
        filter->stream.given < filter->flush_to)
        filter->due = penstock__filter_blocks_in(filter, filter->filled);
    return filter->due;
}

/* Values of the blocks made before were read. */
static void read_made(struct filter_stream *filter, size_t count)
{
    filter->given += count;
    filter->early += filter->flushed ? count : 0;
}

/* Values of the blocks made before. */
static size_t copy_out(struct filter_stream *filter, const struct filter_output *output, size_t room)
{
    size_t bytes = filter->shape->value_bytes, count = smaller(room, filter->ready - filter->given);
    for (size_t c = 0; c < filter->channels && count; c++)
        memcpy((char *)output->values[c] + output->at * bytes, penstock__filter_made(filter, c) + filter->given * bytes,
               count * bytes);
    read_made(filter, count);
    return count;
}

/* Values into our memory or, `*count` of them, to their place, of the blocks that may be given now. */
static int refill(struct filter_stream *filter, const struct filter_output *output, size_t room, bool wait,
                  size_t *count)
{
    size_t values = filter->shape->values, blocks = blocks_to_give(filter, wait), whole;
    int status;
    if (!penstock__filter_engine_near(filter->engine)) /* there are more where the device before gathered longer */
        blocks = smaller(blocks, penstock__filter_engine_rows(filter->engine));
    if (!blocks)
        return filter->stream.given < filter->flush_to && !filter->stream.finished ? make_early_values(filter)
                                                                                   : PENSTOCK_OK;
    whole = filter->early ? 0 : smaller(blocks, room / values);
    if (!whole || (whole < blocks && filter->made_blocks > 1 && !penstock__filter_engine_shares(filter->engine, whole)))
        return make_values(filter, smaller(blocks, filter->made_blocks));
    if ((status = run_gathered(filter, whole, output)))
        return status;
    *count = whole * values;
    return PENSTOCK_OK;
}

/* The next values, at most `room`; `*count` of them came. */
static int give(struct filter_stream *filter, const struct filter_output *output, size_t room, bool wait, size_t *count)
{
    uint64_t before;
    *count = 0;
    if (filter->stream.finished && filter->total - filter->stream.given < room)
        room = (size_t)(filter->total - filter->stream.given);
    while (room && !*count && filter->given == filter->ready) {
        penstock__filter_collect(filter);
        penstock__filter_take_rest(filter);
        if (penstock__filter_in_flight(filter)) {
            unsigned oldest = filter->ring.oldest;
            int status = penstock__filter_queue_give(filter, output, room, wait, count);
            if (status || (!*count && oldest == filter->ring.oldest))
                return status;
            continue;
        }
        before = filter->blocks;
        int status = refill(filter, output, room, wait, count);
        if (status)
            return status;
        if (filter->blocks == before && filter->given == filter->ready)
            return PENSTOCK_OK;
    }
    if (!*count)
        *count = copy_out(filter, output, room);
    filter->stream.given += *count;
    return PENSTOCK_OK;
}

/* Values from place `*made` on, which moves on; an error that comes after values is kept for the next call. */
static int give_all(struct filter_stream *filter, void *const *values, size_t capacity, bool wait, size_t *made)
{
    size_t more, before = *made;
    do {
        struct filter_output output = {.values = values, .at = *made};
        int status = give(filter, &output, capacity - *made, wait, &more);
        if (status)
            return *made > before ? PENSTOCK_OK : status;
        *made += more;
    } while (more);
    return PENSTOCK_OK;
}

/* Several channels have as many arrays; one array is that of the only channel. */
static int find_arrays(const struct filter_stream *filter, const struct penstock__room *out, void *const **values)
{
    *values = out->channels ? out->channels : &out->whole;
    if (out->channels || filter->channels == 1)
        return PENSTOCK_OK;
    return bad("%zu channels have as many arrays of values: penstock_stream_pull_channels(), _run_channels()",
               filter->channels);
}

int penstock__filter_pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait,
                          size_t *count)
{
    void *const *values;
    int status = find_arrays(filter_of(stream), out, &values);
    if (status)
        return status;
    status = give_all(filter_of(stream), values, capacity, wait, count);
    penstock__filter_measure(filter_of(stream), penstock__now_s());
    return status;
}

/* ---------------------------------------------------------------- values where they are ------- */

/* Values of the only channel in our memory or in that of a batch; none where `*from` is NULL. */
static int find_values(struct filter_stream *filter, bool wait, const char **from, size_t *count)
{
    while (filter->given == filter->ready) {
        penstock__filter_collect(filter);
        if (penstock__filter_in_flight(filter)) {
            struct penstock__ring_batch *batch;
            int status = penstock__filter_queue_ready(filter, wait, &batch);
            if (!batch)
                return status;
            if ((*count = batch->items - batch->read)) {
                *from = batch->out + batch->read * filter->shape->value_bytes;
                return PENSTOCK_OK;
            }
            penstock__filter_queue_release(filter, 0);
            continue;
        }
        const uint64_t before = filter->blocks;
        int status = refill(filter, NULL, 0, wait, count);
        if (status || (filter->blocks == before && filter->given == filter->ready))
            return status;
    }
    *from = penstock__filter_made(filter, 0) + filter->given * filter->shape->value_bytes;
    *count = filter->ready - filter->given;
    return PENSTOCK_OK;
}

int penstock__filter_peek(penstock_stream *stream, bool wait, const void **from, size_t *count)
{
    struct filter_stream *filter = filter_of(stream);
    const uint64_t left = stream->finished ? filter->total - stream->given : UINT64_MAX;
    const char *values = NULL;
    int status = left ? find_values(filter, wait, &values, count) : PENSTOCK_OK;
    if (*count > left)
        *count = (size_t)left;
    *from = values;
    return status;
}

void penstock__filter_release(penstock_stream *stream, size_t count)
{
    struct filter_stream *filter = filter_of(stream);
    if (filter->given < filter->ready)
        read_made(filter, count);
    else
        penstock__filter_queue_release(filter, count);
    stream->given += count;
    penstock__filter_measure(filter, penstock__now_s());
}

/* ---------------------------------------------------------------- both at once ---------------- */

/* Blocks from the caller's samples to the caller's values, where that is possible for one at least. Frames that begin
 * in what the last call left are completed there; the rest of the samples is left to gather(). */
static int run_across(struct filter_stream *filter, const void *samples, size_t count, size_t *taken,
                      void *const *values, size_t capacity, size_t *made)
{
    const struct filter_shape *shape = filter->shape;
    size_t bytes = shape->sample_bytes, before = filter->filled, left = count - *taken, near, used;
    size_t blocks =
        smaller(penstock__filter_blocks_in(filter, (uint64_t)before + left), (capacity - *made) / shape->values);
    const char *from = (const char *)samples + *taken * bytes;
    if (!blocks)
        return PENSTOCK_OK;
    near = smaller(blocks, (before + shape->block - 1) / shape->block);
    if (near) {
        size_t end = penstock__filter_engine_samples(filter->engine, near);
        penstock__filter_make_way(filter, end);
        penstock__filter_copy_in(filter, before, &(struct filter_source){from, filter->desc.format, left}, 0,
                                 end - before);
    }
    const char *far = near < blocks ? from + (near * shape->block - before) * bytes : NULL;
    int status =
        penstock__filter_run_blocks(filter, blocks, near, far, &(struct filter_output){.values = values, .at = *made});
    if (status)
        return status;
    used = blocks * shape->block;
    filter->in += smaller(used, before) * bytes;
    filter->filled -= smaller(used, before);
    *taken += used < before ? 0 : used - before;
    filter->stream.given += blocks * shape->values;
    *made += blocks * shape->values;
    return PENSTOCK_OK;
}

/* Whether frames can be read where the caller's samples lie: our own are all parts of frames that are not complete. */
static bool can_run_across(const struct filter_stream *filter)
{
    return penstock__filter_engine_near(filter->engine) && filter->shape->format == filter->desc.format &&
           filter->given == filter->ready && !filter->early && !filter->stream.finished &&
           filter->filled < filter->shape->frame;
}

int penstock__filter_run(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                         const struct penstock__room *out, size_t capacity, size_t *given)
{
    struct filter_stream *filter = filter_of(stream);
    const uint64_t first = stream->taken;
    void *const *values;
    size_t before;
    int status = find_arrays(filter, out, &values);
    if (status)
        return status;
    double began = penstock__now_s();
    do {
        before = *taken + *given;
        penstock__filter_collect(filter);
        if (can_run_across(filter))
            status = run_across(filter, in, count, taken, values, capacity, given);
        if (!status)
            status = penstock__filter_take(filter, in, count, taken);
        stream->taken = first + *taken;
        if (!status)
            status = give_all(filter, values, capacity, *taken == count, given);
    } while (!status && *taken + *given > before);
    penstock__filter_measure(filter, began);
    return *taken + *given ? PENSTOCK_OK : status;
}
