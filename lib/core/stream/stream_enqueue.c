/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams whose items are in a device's memory already. */
#include "core/device/buffer.h"
#include "core/stream/device_pieces.h"
#include "core/stream/link.h"
#include "core/stream/stream.h"
#include "core/stream/stream_device.h"

#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, __VA_ARGS__)

/* What is held lies at the start of one of two pieces of memory; the other one is for what is held next. */
struct penstock__enqueued {
    struct penstock_device *device;
    penstock_buffer *rest[2], *whole; /* `whole`: all samples of a call, where they do not lie as they must */
    size_t whole_bytes, held;         /* samples */
    unsigned now;
    uint64_t groups; /* that were enqueued */
};

/* A call's samples: those that are held, and then those that came. */
struct call {
    penstock_stream *stream;
    struct penstock__device_work work;
    struct penstock__enqueued *state;
    const penstock_buffer *in;
    penstock_buffer *out;
    penstock_queue *queue;
    size_t came, groups; /* samples, and groups that are complete with them */
};

/* ---------------------------------------------------------------- life ------------------------ */

int penstock__enqueued_free(const char *call, const penstock_stream *stream)
{
    return stream->enqueued ? penstock__error(PENSTOCK_ERR_STATE,
                                              "%s: items of this %s are enqueued on %s; reset it before pushes and "
                                              "pulls",
                                              call, stream->kind->name, stream->enqueued->device->name)
                            : PENSTOCK_OK;
}

void penstock__enqueued_reset(penstock_stream *stream)
{
    struct penstock__enqueued *state = stream->enqueued;
    if (!state)
        return;
    penstock_buffer_free(state->rest[0]);
    penstock_buffer_free(state->rest[1]);
    penstock_buffer_free(state->whole);
    penstock__free(state);
    stream->enqueued = NULL;
}

/* Zeros from sample `at` of what is held on; waits. */
static int zero(const struct call *call, size_t at, size_t samples)
{
    const size_t bytes = (at + samples) * call->work.sample_bytes;
    penstock_buffer *memory = call->state->rest[call->state->now];
    char *values = penstock__calloc(1, bytes);
    if (!values)
        return PENSTOCK_ERR_MEMORY;
    int status = at ? penstock_buffer_download(memory, values, at * call->work.sample_bytes, call->queue) : PENSTOCK_OK;
    if (!status)
        status = penstock_buffer_upload(memory, values, bytes, call->queue);
    penstock__free(values);
    return status;
}

/* Groups that begin in what is held have less than three spans: that, and what they reach beyond it. */
static int make(struct call *call)
{
    const size_t bytes = (3 * call->work.span + call->work.step + call->work.lead) * call->work.sample_bytes;
    struct penstock__enqueued *made = penstock__calloc(1, sizeof *made);
    int status;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->device = call->queue->slot.device;
    made->held = call->work.lead;
    call->stream->enqueued = call->state = made;
    if ((status = penstock__buffer_make(&made->rest[0], made->device, bytes)) ||
        (status = penstock__buffer_make(&made->rest[1], made->device, bytes)) ||
        (call->work.lead && (status = zero(call, 0, call->work.lead)))) {
        penstock__enqueued_reset(call->stream);
        return status;
    }
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- copies ---------------------- */

/* Samples within the device's memory. */
static int copy(const struct call *call, const penstock_buffer *to, size_t to_at, const penstock_buffer *from,
                size_t from_at, size_t samples)
{
    const size_t bytes = call->work.sample_bytes;
    const struct penstock_backend *backend = call->state->device->backend;
    if (!samples)
        return PENSTOCK_OK;
    if (to->host) {
        memcpy((char *)to->host + to_at * bytes, (const char *)from->host + from_at * bytes, samples * bytes);
        return PENSTOCK_OK;
    }
    const struct penstock_device_copy work = {.to = (penstock_buffer *)(uintptr_t)to,
                                              .from = (penstock_buffer *)(uintptr_t)from,
                                              .to_at = to_at * bytes,
                                              .from_at = from_at * bytes,
                                              .bytes = samples * bytes,
                                              .way = PENSTOCK_COPY_OWN};
    return penstock__queue_note(call->queue, backend->copy(&call->queue->slot, &work));
}

/* Of those that are held and those that came, `samples` from number `first` on. */
static int gather(const struct call *call, const penstock_buffer *to, size_t to_at, size_t first, size_t samples)
{
    const struct penstock__enqueued *state = call->state;
    const size_t held = first < state->held ? state->held - first : 0, old = held < samples ? held : samples;
    int status = copy(call, to, to_at, state->rest[state->now], first, old);
    return status ? status
                  : copy(call, to, to_at + old, call->in, first > state->held ? first - state->held : 0, samples - old);
}

/* ---------------------------------------------------------------- groups ---------------------- */

static size_t samples_of(const struct call *call, size_t groups)
{
    return (groups - 1) * call->work.step + call->work.span;
}

/* Groups from the call's number `first` on, whose samples are at sample `at` of a buffer. */
static int put(const struct call *call, const penstock_buffer *from, size_t at, size_t first, size_t groups)
{
    const struct penstock__device_work *work = &call->work;
    const size_t each = work->results * work->result_bytes;
    penstock_buffer *in = NULL, *out = NULL;
    int status;
    if (!groups)
        return PENSTOCK_OK;
    if (!(status = penstock_buffer_slice(&in, from, at * work->sample_bytes,
                                         samples_of(call, groups) * work->sample_bytes)) &&
        !(status = penstock_buffer_slice(&out, call->out, first * each, groups * each)))
        status = work->put(call->stream, call->state->groups + first, groups, in, out, call->queue);
    penstock_buffer_free(in);
    penstock_buffer_free(out);
    return status;
}

/* All of them from one piece of memory. */
static int put_gathered(const struct call *call)
{
    struct penstock__enqueued *state = call->state;
    const size_t samples = samples_of(call, call->groups), bytes = samples * call->work.sample_bytes;
    int status;
    if (bytes > state->whole_bytes) {
        if (state->whole && (status = penstock__queue_drain(call->queue))) /* which may read it still */
            return status;
        penstock_buffer_free(state->whole);
        state->whole = NULL;
        state->whole_bytes = 0;
        if ((status = penstock__buffer_make(&state->whole, state->device, bytes + bytes / 2)))
            return status;
        state->whole_bytes = bytes + bytes / 2;
    }
    status = gather(call, state->whole, 0, 0, samples);
    return status ? status : put(call, state->whole, 0, 0, call->groups);
}

/* Those that begin in what is held, with samples that came behind it, and the others where they lie, if memory may
 * begin there; copies of the first ones alone. */
static int put_all(const struct call *call)
{
    const struct penstock__device_work *work = &call->work;
    const struct penstock__enqueued *state = call->state;
    const size_t unit = penstock__device_pieces_step(state->device, 1);
    size_t begun = (state->held + work->step - 1) / work->step;
    begun = begun < call->groups ? begun : call->groups;
    const size_t at = begun * work->step - state->held;
    if (begun < call->groups && (at * work->sample_bytes % unit || begun * work->results * work->result_bytes % unit))
        return put_gathered(call);
    int status = PENSTOCK_OK;
    if (begun && samples_of(call, begun) > state->held)
        status = copy(call, state->rest[state->now], state->held, call->in, 0, samples_of(call, begun) - state->held);
    if (!status)
        status = put(call, state->rest[state->now], 0, 0, begun);
    return status ? status : put(call, call->in, at, begun, call->groups - begun);
}

/* What comes behind the call's groups. */
static int keep(const struct call *call)
{
    struct penstock__enqueued *state = call->state;
    const size_t gone = call->groups * call->work.step, all = state->held + call->came;
    const size_t left = all > gone ? all - gone : 0;
    int status = gather(call, state->rest[!state->now], 0, gone, left);
    if (status)
        return status;
    state->now = !state->now;
    state->held = left;
    state->groups += call->groups;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- the end --------------------- */

/* The results that are left, of groups that zeros complete, by way of memory that has room for whole ones. */
static int put_last(struct call *call, size_t results)
{
    const struct penstock__device_work *work = &call->work;
    struct penstock__enqueued *state = call->state;
    const size_t groups = (results + work->results - 1) / work->results, needs = samples_of(call, groups);
    penstock_buffer *const out = call->out;
    penstock_buffer *room;
    int status = penstock__buffer_make(&room, state->device, groups * work->results * work->result_bytes);
    if (status)
        return status;
    call->groups = groups;
    call->out = room;
    if (needs > state->held && (status = zero(call, state->held, needs - state->held)))
        goto done;
    if ((status = put(call, state->rest[state->now], 0, 0, groups)))
        goto done;
    call->work.sample_bytes = work->result_bytes;
    status = copy(call, out, 0, room, 0, results);
    if (!status)
        status = penstock__queue_drain(call->queue); /* `room` is given back */
    state->groups += groups;
    state->held = 0;
done:
    penstock_buffer_free(room);
    return status;
}

/* ---------------------------------------------------------------- the call -------------------- */

/* What the call gives. */
static size_t find_results(struct call *call)
{
    const struct penstock__device_work *work = &call->work;
    const size_t all = (call->state ? call->state->held : work->lead) + call->came;
    call->groups = all < work->span ? 0 : (all - work->span) / work->step + 1;
    if (!call->stream->finished)
        return call->groups * work->results;
    call->groups = 0;
    return work->total > call->stream->given ? (size_t)(work->total - call->stream->given) : 0;
}

static int check(const struct call *call, size_t results)
{
    const struct penstock__device_work *work = &call->work;
    const struct penstock_device *device = call->queue->slot.device;
    const size_t in_bytes = call->came * work->sample_bytes, out_bytes = results * work->result_bytes;
    int status = PENSTOCK_OK;
    if (call->state && call->state->device != device)
        return bad("penstock_stream_enqueue: items before these are on %s, the queue is on %s",
                   call->state->device->name, device->name);
    if (!device->backend->copy && !(device->backend->flags & PENSTOCK_BACKEND_HOST_MEMORY))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s copies nothing within its memory", device->name);
    if ((in_bytes && (status = penstock__buffer_check(call->in, device, "input", in_bytes))) ||
        (out_bytes && (status = penstock__buffer_check(call->out, device, "output", out_bytes))))
        return status;
    if (in_bytes && out_bytes && penstock__buffer_overlap(call->in, in_bytes, call->out, out_bytes))
        return bad("penstock_stream_enqueue: input and output overlap");
    return PENSTOCK_OK;
}

/* Whether the stream is one that can be. */
static int check_stream(const penstock_stream *stream)
{
    int status;
    if (!stream)
        return bad("penstock_stream_enqueue: stream is NULL");
    if ((status = penstock__stream_here(stream)) ||
        (status = penstock__link_free_in("penstock_stream_enqueue", stream)) ||
        (status = penstock__link_free_out("penstock_stream_enqueue", stream)))
        return status;
    if (!stream->kind->device_work)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "a stream of the kind %s takes no items on a device",
                               stream->kind->name);
    return stream->taken && !stream->enqueued
               ? penstock__error(PENSTOCK_ERR_STATE, "items of this %s were pushed; reset it before they are enqueued",
                                 stream->kind->name)
               : PENSTOCK_OK;
}

static int enqueue(struct call *call, size_t results)
{
    if (call->stream->finished)
        return results ? put_last(call, results) : PENSTOCK_OK;
    const int status = call->groups ? put_all(call) : PENSTOCK_OK;
    return status ? status : keep(call);
}

int penstock_stream_enqueue(penstock_stream *stream, const penstock_buffer *in, size_t count, penstock_buffer *out,
                            size_t *given, penstock_queue *queue)
{
    struct call call = {.stream = stream, .in = in, .out = out, .queue = queue};
    int status;
    if (!given)
        return bad("penstock_stream_enqueue: given is NULL");
    *given = 0;
    if ((status = check_stream(stream)) || (count && (status = penstock__stream_goes_on(stream))) ||
        (status = stream->kind->device_work(stream, &call.work)))
        return status;
    if (count > PTRDIFF_MAX / (call.work.samples * call.work.sample_bytes))
        return bad("penstock_stream_enqueue: %zu items are more than memory can hold", count);
    call.state = stream->enqueued;
    call.came = count * call.work.samples;
    const size_t results = find_results(&call);
    *given = results;
    if (!queue && !out)
        return PENSTOCK_OK;
    *given = 0;
    if ((status = penstock__queue_check(queue)) || (status = check(&call, results)) ||
        (!call.state && (status = make(&call))) || (status = enqueue(&call, results)))
        return status;
    penstock__stream_took(stream, count, penstock__now_s());
    penstock__stream_gave(stream, results, stream->taken, 0);
    *given = results;
    return PENSTOCK_OK;
}
