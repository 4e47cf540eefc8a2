/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The public calls of all streams. */
#include "core/stream/stream.h"
#include "core/base/description.h"
#include "core/device/background.h"
#include "core/stream/link.h"
#include "core/stream/rest.h"
#include "core/stream/stream_device.h"

#include <math.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, __VA_ARGS__)

/* ---------------------------------------------------------------- checks ---------------------- */

static int check_stream(const char *call, const penstock_stream *stream)
{
    return stream ? penstock__stream_here(stream) : bad("%s: stream is NULL", call);
}

/* What is pushed: one array, or `channels` of them. */
static int check_in(const char *call, const penstock_stream *stream, const struct penstock__items *in, size_t count)
{
    size_t channels = stream->in_channels;
    if (count && !in->whole && !in->channels)
        return bad("%s: there are %zu items at NULL", call, count);
    if (in->channels && !channels)
        return bad("%s: a stream of the kind %s is not pushed by channel", call, stream->kind->name);
    for (size_t c = 0; c < channels && in->channels && count; c++)
        if (!in->channels[c])
            return bad("%s: channel %zu is NULL", call, c);
    return penstock__check_count(call, count, in->channels ? stream->in_bytes / channels : stream->in_bytes);
}

static int check_out(const char *call, const penstock_stream *stream, const struct penstock__room *out, size_t capacity)
{
    if (!stream->kind->pull)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "%s: results of the kind %s are frames, with a pull of their own", call,
                               stream->kind->name);
    if (capacity && !out->whole && !out->channels)
        return bad("%s: there is room for %zu items at NULL", call, capacity);
    if (out->channels && !stream->out_channels)
        return bad("%s: a stream of the kind %s is not pulled by channel", call, stream->kind->name);
    for (size_t c = 0; c < stream->out_channels && out->channels && capacity; c++)
        if (!out->channels[c])
            return bad("%s: channel %zu is NULL", call, c);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- in and out ------------------ */

/* Results go on, so that there is room for more. */
static int push_linked(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    size_t some = 0;
    int status = penstock__link_move(stream, false);
    do {
        const struct penstock__items rest = {
            .whole = in->whole ? (const char *)in->whole + *taken * stream->in_bytes : NULL, .channels = in->channels};
        some = 0;
        if (status || penstock__lent_waits(&stream->lent) || stream->lent.end_held)
            return status;
        status = penstock__stream_take(stream, &rest, count - *taken, &some);
        *taken += some;
        int moved = penstock__link_move(stream, false);
        status = status ? status : moved;
    } while (some && in->whole && *taken < count);
    return status;
}

static int push(const char *call, penstock_stream *stream, const struct penstock__items *in, size_t count,
                size_t *taken)
{
    size_t all = 0;
    int status = check_stream(call, stream);
    if (status)
        return status;
    if (!taken && stream->kind->takes_all)
        taken = &all;
    if (!taken)
        return bad("%s: taken is NULL, so that samples could be lost unnoticed", call);
    *taken = 0;
    if ((status = check_in(call, stream, in, count)) || (status = penstock__stream_goes_on(stream)) ||
        (status = penstock__link_free_in(call, stream)) || (status = penstock__enqueued_free(call, stream)))
        return status;
    penstock__lent_forget(stream);
    penstock__lent_drain(stream); /* what fails is tried again, and told, by a pull */
    if (stream->links)
        return push_linked(stream, in, count, taken);
    return penstock__lent_waits(&stream->lent) ? PENSTOCK_OK : penstock__stream_take(stream, in, count, taken);
}

static int pull(const char *call, penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait,
                size_t *count)
{
    int status = check_stream(call, stream);
    if (status)
        return status;
    if (!count)
        return bad("%s: count is NULL", call);
    *count = 0;
    if ((status = check_out(call, stream, out, capacity)) || (status = penstock__link_free_out(call, stream)) ||
        (status = penstock__enqueued_free(call, stream)))
        return status;
    penstock__lent_forget(stream);
    if (!stream->source)
        return penstock__lent_pull(stream, out, capacity, wait, count);
    for (int waits = 0; waits <= wait && !*count && !status; waits++)
        if (!(status = penstock__link_feed(stream, waits)))
            status = penstock__lent_pull(stream, out, capacity, waits, count);
    return status;
}

static int run(const char *call, penstock_stream *stream, const void *in, size_t count, size_t *taken,
               const struct penstock__room *out, size_t capacity, size_t *given)
{
    const struct penstock__items items = {.whole = in};
    int status = check_stream(call, stream);
    if (status)
        return status;
    if (!taken || !given)
        return bad("%s: taken or given is NULL", call);
    *taken = *given = 0;
    if ((status = check_in(call, stream, &items, count)) || (status = check_out(call, stream, out, capacity)) ||
        (count && (status = penstock__stream_goes_on(stream))) || (status = penstock__link_free_in(call, stream)) ||
        (status = penstock__link_free_out(call, stream)) || (status = penstock__enqueued_free(call, stream)))
        return status;
    penstock__lent_forget(stream);
    penstock__lent_drain(stream); /* what fails is tried again, and told, by a pull */
    if (stream->kind->run && !penstock__lent_waits(&stream->lent) && !penstock__lent_unread(&stream->lent))
        return stream->kind->run(stream, in, count, taken, out, capacity, given);
    int pushed = PENSTOCK_OK;
    if (count && !penstock__lent_waits(&stream->lent))
        pushed = penstock__stream_take(stream, &items, count, taken);
    status = penstock__lent_pull(stream, out, capacity, false, given);
    return status || *given ? status : pushed;
}

int penstock_stream_push(penstock_stream *stream, const void *items, size_t count, size_t *taken)
{
    return push(__func__, stream, &(struct penstock__items){.whole = items}, count, taken);
}

int penstock_stream_push_channels(penstock_stream *stream, const void *const *channels, size_t count, size_t *taken)
{
    return push(__func__, stream, &(struct penstock__items){.channels = channels}, count, taken);
}

int penstock_stream_pull(penstock_stream *stream, void *items, size_t capacity, bool wait, size_t *count)
{
    return pull(__func__, stream, &(struct penstock__room){.whole = items}, capacity, wait, count);
}

int penstock_stream_pull_channels(penstock_stream *stream, void *const *channels, size_t capacity, bool wait,
                                  size_t *count)
{
    return pull(__func__, stream, &(struct penstock__room){.channels = channels}, capacity, wait, count);
}

int penstock_stream_run(penstock_stream *stream, const void *in, size_t count, size_t *taken, void *out,
                        size_t capacity, size_t *given)
{
    return run(__func__, stream, in, count, taken, &(struct penstock__room){.whole = out}, capacity, given);
}

int penstock_stream_run_channels(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                                 void *const *channels, size_t capacity, size_t *given)
{
    return run(__func__, stream, in, count, taken, &(struct penstock__room){.channels = channels}, capacity, given);
}

/* ---------------------------------------------------------------- life ------------------------ */

static int end(const char *call, penstock_stream *stream, enum penstock__lent_end how)
{
    int status = check_stream(call, stream);
    if (status || (status = penstock__link_free_in(call, stream)))
        return status;
    if (stream->enqueued) { /* whose results another call gives */
        stream->finished = stream->finished || how == PENSTOCK__LENT_FINISH;
        return PENSTOCK_OK;
    }
    if (!penstock__link_end_device(stream, how)) /* the host makes what is less than a batch */
        return PENSTOCK_OK;
    if ((status = penstock__lent_end(stream, how)))
        return status;
    return stream->links ? penstock__link_end(stream, how) : PENSTOCK_OK;
}

int penstock_stream_flush(penstock_stream *stream)
{
    return end(__func__, stream, PENSTOCK__LENT_FLUSH);
}

int penstock_stream_finish(penstock_stream *stream)
{
    return end(__func__, stream, PENSTOCK__LENT_FINISH);
}

int penstock_stream_reset(penstock_stream *stream)
{
    int status = check_stream(__func__, stream);
    if (status || (status = penstock__link_free_in(__func__, stream)))
        return status;
    penstock__link_settle(stream);
    penstock__enqueued_reset(stream);
    penstock__lent_reset(stream);
    penstock__stream_start(stream);
    stream->kind->reset(stream);
    penstock__link_reset(stream);
    return PENSTOCK_OK;
}

/* From what is the caller's, and what the caller has. */
static void part(penstock_stream *stream)
{
    penstock__link_cut(stream);
    penstock__enqueued_reset(stream);
    penstock__lent_free(stream);
}

void penstock__stream_free(penstock_stream *stream)
{
    if (!stream)
        return;
    part(stream);
    stream->kind->free(stream);
}

static void free_parted(void *stream)
{
    ((penstock_stream *)stream)->kind->free(stream);
}

void penstock_stream_free(penstock_stream *stream)
{
    if (!stream)
        return;
    if (stream->kind->cancel)
        stream->kind->cancel(stream);
    part(stream);
    penstock__background_free(stream->context, free_parted, stream);
}

int penstock_stream_set_max_latency(penstock_stream *stream, double max_latency_s)
{
    int status = check_stream(__func__, stream);
    if (status)
        return status;
    if (!(max_latency_s >= 0))
        return bad("%s: %g is not 0 or more", __func__, max_latency_s);
    return stream->kind->set_max_latency ? stream->kind->set_max_latency(stream, max_latency_s) : PENSTOCK_OK;
}

double penstock_stream_due_s(const penstock_stream *stream)
{
    if (stream && penstock__lent_unread(&stream->lent))
        return 0;
    if (!stream)
        return (double)INFINITY;
    const double due_s = stream->kind->due_s(stream);
    return stream->source ? fmin(due_s, penstock_stream_due_s(stream->source->from)) : due_s;
}

/* ---------------------------------------------------------------- what is known --------------- */

int penstock_stream_get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    penstock_stream_info known = PENSTOCK_STREAM_INFO;
    int status = stream ? PENSTOCK_OK : bad("%s: stream is NULL", __func__);
    if (status)
        return status;
    known.kind = stream->kind->name;
    known.in_bytes = stream->in_bytes;
    known.out_bytes = stream->out_bytes;
    known.in_channels = stream->in_channels;
    known.out_channels = stream->out_channels;
    known.taken = stream->taken;
    known.given = stream->given;
    known.linked_on = penstock__link_device(stream);
    stream->kind->get_info(stream, &known);
    known.taken += stream->lent.held - stream->lent.taken;
    known.given -= penstock__lent_unread(&stream->lent);
    known.waiting += penstock__lent_unread(&stream->lent);
    return penstock__description_write(info, &known, sizeof known, "penstock_stream_info");
}

const char *penstock_stream_device(const penstock_stream *stream)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    return penstock_stream_get_info(stream, &info) ? NULL : info.device;
}

int penstock_stream_get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    penstock_stream_stats now = PENSTOCK_STREAM_STATS;
    int status = stream ? PENSTOCK_OK : bad("%s: stream is NULL", __func__);
    if (status)
        return status;
    penstock__meter_read(&stream->meter, &now, penstock__now_s());
    stream->kind->get_stats(stream, &now);
    now.handed_over = stream->handed_over;
    now.out -= penstock__lent_unread(&stream->lent);
    return penstock__description_write(stats, &now, sizeof now, "penstock_stream_stats");
}
