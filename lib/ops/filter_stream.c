/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples into a filter, and its blocks through the engine. */
#include "ops/filter_stream.h"

#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter: " __VA_ARGS__)

/* The first frame begins with what is before the stream. */
void penstock__filter_rewind(penstock_filter *filter)
{
    const struct filter_shape *shape = filter->shape;
    penstock__filter_flight_settle(filter);
    penstock__ring_reset(&filter->ring);
    filter->in = penstock__ring_last(&filter->ring)->in;
    filter->filled = shape->history - shape->advance / shape->interpolation;
    memset(filter->in, 0, filter->filled * shape->sample_bytes);
    filter->due = filter->ready = filter->given = filter->early = 0;
    filter->flush_to = 0;
    filter->blocks = filter->samples = filter->values = filter->total = filter->meanwhile = 0;
    penstock__filter_engine_start(filter->engine, 0);
    filter->complete = 0;
    filter->flushed = filter->finished = false;
    penstock__rest_free(&filter->rest);
    penstock__meter_start(&filter->meter, penstock__now_s());
}

/* ---------------------------------------------------------------- blocks ---------------------- */

/* Blocks whose frames are all there in `samples` samples. */
size_t penstock__filter_blocks_in(const penstock_filter *filter, uint64_t samples)
{
    const struct filter_shape *shape = filter->shape;
    return samples < shape->frame ? 0 : (size_t)((samples - shape->frame) / shape->block) + 1;
}

int penstock__filter_compute(penstock_filter *filter, struct filter_blocks blocks, const struct filter_output *output)
{
    for (size_t c = 0; c < filter->channels; c++) {
        char *to = output->values ? output->values[c] : penstock__filter_made(filter, c);
        filter->run[c] =
            (struct filter_channel){.taps = filter->lines[c].taps, .out = to + output->at * filter->shape->value_bytes};
    }
    blocks.channels = filter->run;
    return penstock__filter_engine_run(filter->engine, &blocks);
}

void penstock__filter_taps_passed(penstock_filter *filter, uint64_t block)
{
    uint64_t start = penstock__filter_position(filter->shape, block);
    for (size_t c = 0; c < filter->channels; c++) {
        struct filter_line *line = &filter->lines[c];
        while (line->taps->next && line->taps->next->from <= start)
            penstock__filter_drop_taps(line, line->taps->next);
    }
}

int penstock__filter_run_blocks(penstock_filter *filter, size_t count, size_t near, const void *far,
                                const struct filter_output *output)
{
    struct filter_blocks blocks = {.first = filter->blocks, .count = count, .in = filter->in, .near = near, .far = far};
    double began = penstock__now_s();
    int status = penstock__filter_compute(filter, blocks, output);
    if (status)
        return status;
    penstock__filter_measure_blocks(filter, count, began);
    filter->blocks += count;
    filter->meanwhile += filter->arrival != NULL;
    filter->due -= smaller(filter->due, count);
    filter->complete = 0;
    penstock__filter_taps_passed(filter, filter->blocks);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- samples in ------------------ */

void penstock__filter_copy_in(penstock_filter *filter, size_t at, const struct filter_source *source, size_t first,
                              size_t count)
{
    const struct filter_shape *shape = filter->shape;
    char *to = filter->in + at * shape->sample_bytes;
    if (shape->format != source->format) {
        penstock__convert_all(filter->context, (penstock_cf32 *)(void *)to, source->samples, source->format, first,
                              count, source->total);
        return;
    }
    penstock__copy(filter->context, to, (const char *)source->samples + first * shape->sample_bytes,
                   count * shape->sample_bytes);
}

/* As many samples as a full batch has room for. */
static size_t gather(penstock_filter *filter, const struct filter_source *source, size_t first)
{
    size_t count = smaller(source->total - first, filter->whole - smaller(filter->filled, filter->whole));
    penstock__filter_copy_in(filter, filter->filled, source, first, count);
    filter->filled += count;
    if (filter->desc.max_latency_s > 0 && filter->complete == 0 && penstock__filter_blocks_in(filter, filter->filled))
        filter->complete = penstock__now_s();
    penstock__filter_flight_send(filter);
    if (filter->filled >= filter->whole)
        filter->due = penstock__filter_blocks_in(filter, filter->filled);
    return count;
}

/* As many batches as can be on their way at once. */
static void gather_all(penstock_filter *filter, const struct filter_source *source, size_t *taken)
{
    for (size_t some = 1; some && *taken < source->total; *taken += some)
        some = gather(filter, source, *taken);
}

void penstock__filter_take_rest(penstock_filter *filter)
{
    struct penstock__rest *rest = &filter->rest;
    size_t count = penstock__rest_count(rest), taken = 0;
    if (count)
        gather_all(filter, &(struct filter_source){rest->samples + rest->first, PENSTOCK_CF32, count}, &taken);
    rest->first += taken;
}

int penstock__filter_take(penstock_filter *filter, const void *samples, size_t total, size_t *taken)
{
    bool planar = filter->desc.format == PENSTOCK_PLANAR && *taken < total;
    size_t before = *taken;
    int status;
    penstock__filter_take_rest(filter);
    if (penstock__rest_count(&filter->rest))
        return PENSTOCK_OK;
    if (planar && (status = penstock__rest_reserve(&filter->rest, total)))
        return status;
    gather_all(filter, &(struct filter_source){samples, filter->desc.format, total}, taken);
    if (planar && *taken < total)
        penstock__rest_keep(&filter->rest, samples, total, taken);
    filter->samples += *taken - before;
    return PENSTOCK_OK;
}

int penstock__filter_check_push(const penstock_filter *filter, const void *samples, size_t count)
{
    if (!filter || (count && !samples))
        return bad("penstock_filter_push: filter or samples is NULL");
    if (filter->finished)
        return penstock__error(PENSTOCK_ERR_STATE, "filter: the stream was finished; reset it before pushing again");
    return penstock__check_count("filter", count, penstock_format_bytes(filter->desc.format));
}

int penstock_filter_push(penstock_filter *filter, const void *samples, size_t count, size_t *taken)
{
    if (!taken)
        return penstock__check_taken("penstock_filter_push", 0, 0, taken);
    *taken = 0;
    int status = penstock__filter_check_push(filter, samples, count);
    if (status || (status = penstock__filter_take(filter, samples, count, taken)))
        return status;
    penstock__filter_measure(filter, penstock__now_s());
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

/* Values that a stream of `samples` makes: as many as the channel with the most taps needs. */
static uint64_t count_values(const penstock_filter *filter)
{
    const struct filter_shape *shape = filter->shape;
    uint64_t end = filter->samples * shape->interpolation;
    size_t most = 0;
    for (size_t c = 0; c < filter->channels; c++) {
        size_t count = last_taps(&filter->lines[c], end);
        most = count > most ? count : most;
    }
    uint64_t more = filter->desc.tail && filter->samples ? most - 1 - shape->advance : 0;
    return (end + more + shape->decimation - 1) / shape->decimation;
}

int penstock_filter_finish(penstock_filter *filter)
{
    if (!filter)
        return bad("penstock_filter_finish: filter is NULL");
    if (!filter->finished)
        filter->total = count_values(filter);
    filter->finished = true;
    return PENSTOCK_OK;
}

int penstock_filter_flush(penstock_filter *filter)
{
    if (!filter)
        return bad("penstock_filter_flush: filter is NULL");
    const struct filter_shape *shape = filter->shape;
    uint64_t end = filter->samples * shape->interpolation;
    if (!filter->finished && end > shape->advance)
        filter->flush_to = (end - shape->advance + shape->decimation - 1) / shape->decimation;
    return PENSTOCK_OK;
}
