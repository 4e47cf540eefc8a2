/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams whose items are enqueued in their device's memory. */
#include "enqueued.h"
#include "shared/command.h"

#include <string.h>

struct enqueued {
    penstock_stream *first, *second; /* `second`: or NULL */
    size_t items;                    /* of a call */
    size_t given_bytes, taken_bytes; /* of a result of the first, and an item of the second */
    penstock_queue *queue;
    penstock_buffer *in, *between, *out;
};

/* Whole items of the second stream that so many results of the first one are. */
static size_t items_of(const struct enqueued *enqueued, size_t results)
{
    return results * enqueued->given_bytes / enqueued->taken_bytes;
}

/* Memory for the results of `items`: some calls give a few more than the first one. */
static int make_room(penstock_buffer **room, const struct case_target *target, penstock_stream *stream, size_t items,
                     size_t *given)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    int status = penstock_stream_enqueue(stream, NULL, items, NULL, given, NULL);
    if (status || (status = penstock_stream_get_info(stream, &info)))
        return status;
    return penstock_buffer_new(room, target->context, info.device, (*given + *given / 4 + 2) * info.out_bytes);
}

static int open_all(struct enqueued *enqueued, const struct case_target *target, penstock_stream *first,
                    penstock_stream *second, const void *in, size_t items)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO, next = PENSTOCK_STREAM_INFO;
    size_t given, vectors;
    *enqueued = (struct enqueued){.first = first, .second = second, .items = items};
    int status = penstock_stream_get_info(first, &info);
    if (!status && second)
        status = penstock_stream_get_info(second, &next);
    enqueued->given_bytes = info.out_bytes;
    enqueued->taken_bytes = next.in_bytes;
    if (status || (status = penstock_queue_new(&enqueued->queue, target->context, info.device)) ||
        (status = penstock_buffer_new(&enqueued->in, target->context, info.device, items * info.in_bytes)) ||
        (status = penstock_buffer_upload(enqueued->in, in, items * info.in_bytes, enqueued->queue)) ||
        (status = make_room(second ? &enqueued->between : &enqueued->out, target, first, items, &given)))
        return status;
    return second ? make_room(&enqueued->out, target, second, items_of(enqueued, given + 1), &vectors) : PENSTOCK_OK;
}

static void close_all(struct enqueued *enqueued)
{
    penstock_queue_free(enqueued->queue); /* which waits */
    penstock_buffer_free(enqueued->in);
    penstock_buffer_free(enqueued->between);
    penstock_buffer_free(enqueued->out);
}

static int call(const struct enqueued *enqueued)
{
    penstock_buffer *const to = enqueued->second ? enqueued->between : enqueued->out;
    size_t given, vectors;
    int status = penstock_stream_enqueue(enqueued->first, enqueued->in, enqueued->items, to, &given, enqueued->queue);
    return status || !enqueued->second
               ? status
               : penstock_stream_enqueue(enqueued->second, enqueued->between, items_of(enqueued, given), enqueued->out,
                                         &vectors, enqueued->queue);
}

static int run(void *state)
{
    const struct enqueued *enqueued = state;
    int status = PENSTOCK_OK;
    for (int i = 0; i < ENQUEUED_CALLS && !status; i++)
        status = call(enqueued);
    if (!status)
        status = penstock_queue_wait(enqueued->queue);
    return status ? fail_status(status) : EXIT_DONE;
}

size_t enqueued_samples(const struct case_target *target)
{
    return strncmp(target->device, "cuda", 4) ? ENQUEUED_SAMPLES : (size_t)4 * ENQUEUED_SAMPLES;
}

int enqueued_bench(const struct case_target *target, penstock_stream *first, penstock_stream *second, const void *in,
                   size_t items, struct bench_row *row)
{
    struct enqueued enqueued;
    int status = open_all(&enqueued, target, first, second, in, items);
    row->samples_per_run = ENQUEUED_CALLS * (double)items;
    int code = status ? bench_status(row, status) : bench_measure(row, &(struct workload){run, &enqueued}, NULL, 0.5);
    close_all(&enqueued);
    return code;
}
