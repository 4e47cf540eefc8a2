/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Where a stream stands: what it took and gave, whether it goes on, and in this process. */
#include "core/base/fork.h"
#include "core/device/devices.h"
#include "core/stream/stream.h"

void penstock__stream_start(penstock_stream *stream)
{
    stream->taken = stream->given = stream->handed_over = 0;
    stream->finished = false;
    stream->forks = penstock__forks();
    penstock__meter_start(&stream->meter, penstock__now_s());
}

void penstock__stream_took(penstock_stream *stream, size_t items, double now)
{
    stream->taken += items;
    penstock__meter_take(&stream->meter, items, now);
}

void penstock__stream_gave(penstock_stream *stream, size_t items, uint64_t first_end, uint64_t step)
{
    if (items)
        penstock__meter_give(&stream->meter, items, first_end, step, penstock__now_s());
    stream->given += items;
}

int penstock__stream_is(const penstock_stream *stream, const struct penstock__stream_kind *kind, const char *call)
{
    if (!stream)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: stream is NULL", call);
    return stream->kind == kind
               ? penstock__stream_here(stream)
               : penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: this stream is of the kind %s", call, stream->kind->name);
}

/* Whether a device computes for the stream, or did, whose driver the parent alone has. */
static bool had_gone_device(const penstock_stream *stream)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    const struct penstock_device *device;
    stream->kind->get_info(stream, &info);
    stream->kind->get_stats(stream, &stats);
    for (size_t i = 0; (device = penstock__device_row(stream->context, NULL, i)); i++)
        if (device->name == info.device)
            return penstock__device_gone(device) || stats.fallbacks;
    return stats.fallbacks;
}

/* A driver may keep the memory that it gives from children, so that touching it would end them. */
int penstock__stream_here(const penstock_stream *stream)
{
    if (stream->forks == penstock__forks() || !penstock__host_blocks_gone(stream->context) || !had_gone_device(stream))
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_DEVICE,
                           "%s: its samples are in memory of a device that stayed with the process "
                           "that forked this one",
                           stream->kind->name);
}

int penstock__stream_goes_on(const penstock_stream *stream)
{
    return !stream->finished && stream->lent.end != PENSTOCK__LENT_FINISH
               ? PENSTOCK_OK
               : penstock__error(PENSTOCK_ERR_STATE, "%s: the stream was finished; reset it before pushing again",
                                 stream->kind->name);
}

int penstock__stream_take(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    const uint64_t before = stream->taken;
    double now = penstock__now_s();
    int status = stream->kind->push(stream, in, count, taken);
    if (stream->kind->takes_all)
        *taken = (size_t)(stream->taken - before);
    else
        penstock__stream_took(stream, *taken, now);
    return status;
}
