/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams whose items are enqueued in their device's memory. */
#include "enqueued.h"
#include "command.h"

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

int enqueued_open(struct enqueued *enqueued, const struct case_target *target, penstock_stream *first,
                  penstock_stream *second, const void *in, size_t items)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    size_t given, vectors;
    *enqueued = (struct enqueued){.first = first, .second = second, .items = items};
    int status = penstock_stream_get_info(first, &info);
    if (status || (status = penstock_queue_new(&enqueued->queue, target->context, info.device)) ||
        (status = penstock_buffer_new(&enqueued->in, target->context, info.device, items * info.in_bytes)) ||
        (status = penstock_buffer_upload(enqueued->in, in, items * info.in_bytes, enqueued->queue)) ||
        (status = make_room(second ? &enqueued->between : &enqueued->out, target, first, items, &given)))
        return status;
    return second ? make_room(&enqueued->out, target, second, given + 1, &vectors) : PENSTOCK_OK;
}

void enqueued_close(struct enqueued *enqueued)
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
    return status || !enqueued->second ? status
                                       : penstock_stream_enqueue(enqueued->second, enqueued->between, given,
                                                                 enqueued->out, &vectors, enqueued->queue);
}

int enqueued_run(void *state)
{
    const struct enqueued *enqueued = state;
    int status = PENSTOCK_OK;
    for (int i = 0; i < ENQUEUED_CALLS && !status; i++)
        status = call(enqueued);
    if (!status)
        status = penstock_queue_wait(enqueued->queue);
    return status ? fail_status(status) : EXIT_DONE;
}
