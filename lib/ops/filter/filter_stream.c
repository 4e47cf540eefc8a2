/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples into a filter, and its blocks through the engine. */
#include "ops/filter/filter_stream.h"

#include <string.h>

/* Samples that were used up, for each one left, from which on these are moved to the memory's front. */
#define MUCH_BEFORE 8

/* The first frame begins with what is before the stream. */
void penstock__filter_rewind(struct filter_stream *filter)
{
    const struct filter_shape *shape = filter->shape;
    penstock__filter_queue_settle(filter);
    penstock__ring_reset(&filter->ring);
    filter->in = penstock__ring_last(&filter->ring)->in;
    filter->filled = shape->history - shape->advance / shape->interpolation;
    memset(filter->in, 0, filter->filled * shape->sample_bytes);
    filter->due = filter->ready = filter->given = filter->early = 0;
    filter->flush_to = 0;
    filter->blocks = filter->total = filter->cpu_while_compiling = 0;
    penstock__filter_engine_start(filter->engine, 0);
    filter->complete = 0;
    filter->flushed = false;
    penstock__rest_free(&filter->rest);
    penstock__stream_start(&filter->stream);
}

/* ---------------------------------------------------------------- blocks ---------------------- */

int penstock__filter_compute(struct filter_stream *filter, struct filter_blocks blocks,
                             const struct filter_output *output)
{
    for (size_t c = 0; c < filter->channels; c++) {
        char *to = output->values ? output->values[c] : penstock__filter_made(filter, c);
        filter->run[c] =
            (struct filter_channel){.taps = filter->lines[c].taps, .out = to + output->at * filter->shape->value_bytes};
    }
    blocks.channels = filter->run;
    return penstock__filter_engine_run(filter->engine, &blocks);
}

int penstock__filter_run_blocks(struct filter_stream *filter, size_t count, size_t near, const void *far,
                                const struct filter_output *output)
{
    struct filter_blocks blocks = {.first = filter->blocks, .count = count, .in = filter->in, .near = near, .far = far};
    double began = penstock__now_s();
    penstock__serve(&filter->standby, filter->build);
    int status = penstock__filter_compute(filter, blocks, output);
    penstock__served(&filter->standby, filter->build, count * filter->shape->block);
    if (status)
        return status;
    penstock__filter_measure_blocks(filter, count, began);
    filter->blocks += count;
    filter->cpu_while_compiling += filter->build != NULL;
    filter->due -= smaller(filter->due, count);
    filter->complete = 0;
    penstock__filter_taps_passed(filter, filter->blocks);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- samples in ------------------ */

/* What is left of a batch whose blocks were made is little, and is better where the cache has been. */
void penstock__filter_make_way(struct filter_stream *filter, size_t end)
{
    char *front = penstock__ring_last(&filter->ring)->in;
    size_t bytes = filter->shape->sample_bytes, before = (size_t)(filter->in - front) / bytes;
    if (!before || (before + end <= filter->room && before < MUCH_BEFORE * filter->filled))
        return;
    memmove(front, filter->in, filter->filled * bytes);
    filter->in = front;
}

void penstock__filter_copy_in(struct filter_stream *filter, size_t at, const struct filter_source *source, size_t first,
                              size_t count)
{
    const struct filter_shape *shape = filter->shape;
    char *to = filter->in + at * shape->sample_bytes;
    if (shape->format != source->format) {
        penstock__convert_all(filter->stream.context, (penstock_cf32 *)(void *)to, source->samples, source->format,
                              first, count, source->total);
        return;
    }
    penstock__copy(filter->stream.context, to, (const char *)source->samples + first * shape->sample_bytes,
                   count * shape->sample_bytes);
}

static size_t room_of(const struct filter_stream *filter)
{
    return filter->most - smaller(filter->filled, filter->most);
}

/* `count` samples more are there. */
static void gathered(struct filter_stream *filter, size_t count)
{
    filter->filled += count;
    if (filter->desc.max_latency_s > 0 && filter->complete == 0 && penstock__filter_blocks_in(filter, filter->filled))
        filter->complete = penstock__now_s();
    penstock__filter_queue_send(filter);
    if (filter->filled >= filter->whole)
        filter->due = penstock__filter_blocks_in(filter, filter->filled);
}

/* As many samples as a full batch has room for. */
static size_t gather(struct filter_stream *filter, const struct filter_source *source, size_t first)
{
    size_t count = smaller(source->total - first, room_of(filter));
    penstock__filter_make_way(filter, filter->filled + count);
    penstock__filter_copy_in(filter, filter->filled, source, first, count);
    gathered(filter, count);
    return count;
}

/* As many batches as can be on their way at once. */
static void gather_all(struct filter_stream *filter, const struct filter_source *source, size_t *taken)
{
    for (size_t some = 1; some && *taken < source->total; *taken += some)
        some = gather(filter, source, *taken);
}

void penstock__filter_take_rest(struct filter_stream *filter)
{
    struct penstock__rest *rest = &filter->rest;
    size_t count = penstock__rest_count(rest), taken = 0;
    if (count)
        gather_all(filter, &(struct filter_source){rest->samples + rest->first, PENSTOCK_CF32, count}, &taken);
    rest->first += taken;
}

int penstock__filter_take(struct filter_stream *filter, const void *samples, size_t total, size_t *taken)
{
    bool planar = filter->desc.format == PENSTOCK_PLANAR && *taken < total;
    int status;
    penstock__filter_take_rest(filter);
    if (penstock__rest_count(&filter->rest))
        return PENSTOCK_OK;
    if (planar && (status = penstock__rest_reserve(&filter->rest, total)))
        return status;
    gather_all(filter, &(struct filter_source){samples, filter->desc.format, total}, taken);
    if (planar && *taken < total)
        penstock__rest_keep(&filter->rest, samples, total, taken);
    return PENSTOCK_OK;
}

int penstock__filter_push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    return penstock__filter_take(filter_of(stream), in->whole, count, taken);
}

int penstock__filter_acquire(penstock_stream *stream, void **to, size_t *room)
{
    struct filter_stream *filter = filter_of(stream);
    penstock__filter_queue_send(filter); /* a full batch for which there was no memory behind it */
    *room = room_of(filter);
    penstock__filter_make_way(filter, filter->filled + *room);
    *to = filter->in + filter->filled * filter->shape->sample_bytes;
    return PENSTOCK_OK;
}

int penstock__filter_commit(penstock_stream *stream, size_t count)
{
    gathered(filter_of(stream), count);
    return PENSTOCK_OK;
}

/* Taps of a channel that hold at the end of `samples`. */
static size_t last_taps(const struct filter_line *line, uint64_t end)
{
    const struct filter_taps *last = line->taps;
    while (last->next && last->next->from <= end)
        last = last->next;
    return last->count;
}

uint64_t penstock__filter_total(const struct filter_stream *filter)
{
    const struct filter_shape *shape = filter->shape;
    uint64_t end = filter->stream.taken * shape->interpolation;
    size_t most = 0;
    for (size_t c = 0; c < filter->channels; c++) {
        size_t count = last_taps(&filter->lines[c], end);
        most = count > most ? count : most;
    }
    uint64_t more = filter->desc.tail && filter->stream.taken ? most - 1 - shape->advance : 0;
    return (end + more + shape->decimation - 1) / shape->decimation;
}

int penstock__filter_finish(penstock_stream *stream)
{
    if (!stream->finished)
        filter_of(stream)->total = penstock__filter_total(filter_of(stream));
    stream->finished = true;
    return PENSTOCK_OK;
}

int penstock__filter_flush(penstock_stream *stream)
{
    struct filter_stream *filter = filter_of(stream);
    const struct filter_shape *shape = filter->shape;
    uint64_t end = stream->taken * shape->interpolation;
    if (!stream->finished && end > shape->advance)
        filter->flush_to = (end - shape->advance + shape->decimation - 1) / shape->decimation;
    return PENSTOCK_OK;
}
