/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sinks: samples to a file or standard output, with every failure reported once. All threads of a context convert and
 * count; the system takes bytes from one. After each call less than PENSTOCK__SINK_BYTES wait to be written, less still
 * where sinks are many. */
#include "radio/sink.h"
#include "core/base/description.h"
#include "core/stream/rest.h"
#include "radio/source_kind.h"

#include <string.h>

#define MOST_FACTOR ((uint64_t)1 << 31)

static const char meta_ending[] = ".sigmf-meta";

/* ---------------------------------------------------------------- opening --------------------- */

static int check_description(const penstock_sink_desc *desc)
{
    if (desc->format != PENSTOCK_CF32 && desc->format != PENSTOCK_CS16 && desc->format != PENSTOCK_CS8 &&
        desc->format != PENSTOCK_CU8)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a file of samples is cf32, cs16, cs8 or cu8, not %s",
                               penstock_format_name(desc->format) ? penstock_format_name(desc->format) : "unknown");
    if (!(desc->rate_hz > 0.0 && desc->rate_hz <= 1e12))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "rate_hz is %g, not a number above 0 and up to 1e12",
                               desc->rate_hz);
    if (!(desc->frequency_hz >= 0.0 && desc->frequency_hz <= 1e12))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "frequency_hz is %g, not a number from 0 to 1e12",
                               desc->frequency_hz);
    if (desc->decimation > MOST_FACTOR || desc->interpolation > MOST_FACTOR)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "decimation and interpolation are %llu and %llu, not 1 to 2^31",
                               (unsigned long long)desc->decimation, (unsigned long long)desc->interpolation);
    return PENSTOCK_OK;
}

static int open_pair(penstock_sink *sink, penstock_files *set, const char *path)
{
    size_t length = strlen(path), ending = sizeof meta_ending - 1;
    int status = penstock__sigmf_prepare();
    if (status)
        return status;
    memcpy(sink->path + length - ending, ".sigmf-data", ending);
    return penstock__file_open_pair(&sink->data, &sink->metadata, set, sink->path, path);
}

static int open_files(penstock_sink *sink, const char *path)
{
    size_t length = strlen(path), ending = sizeof meta_ending - 1;
    int status;
    if (!(sink->path = penstock__strdup(strcmp(path, "-") ? path : "standard output")))
        return PENSTOCK_ERR_MEMORY;
    if (!sink->desc.files && (status = penstock_files_new(&sink->own)))
        return status;
    penstock_files *set = sink->own ? sink->own : sink->desc.files;
    if (length > ending && !strcmp(path + length - ending, meta_ending))
        return open_pair(sink, set, path);
    return penstock_file_open(&sink->data, set, path);
}

static unsigned thread_count(const penstock_sink *sink)
{
    const unsigned threads = sink->desc.context ? penstock__threads(sink->desc.context) : 1;
    return threads < PENSTOCK__SINK_THREADS ? threads : PENSTOCK__SINK_THREADS;
}

int penstock_sink_open(penstock_sink **sink, const char *path, const penstock_sink_desc *desc)
{
    penstock_sink *self;
    int status;
    if (!sink)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "sink is NULL");
    *sink = NULL;
    if (!path || !*path)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "no file named: a path, or '-' for standard output");
    if (!(self = penstock__calloc(1, sizeof *self)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = penstock__description_read(&self->desc, sizeof self->desc, desc, "penstock_sink_desc")) ||
        (status = check_description(&self->desc)))
        goto fail;
    status = PENSTOCK_ERR_MEMORY;
    if (self->desc.description && !(self->description = penstock__strdup(self->desc.description)))
        goto fail;
    self->desc.description = self->description;
    self->desc.decimation += !self->desc.decimation;
    self->desc.interpolation += !self->desc.interpolation;
    if ((status = open_files(self, path)))
        goto fail;
    if (self->desc.source)
        self->desc.source->captures.keep = true;
    *sink = self;
    return PENSTOCK_OK;
fail:
    penstock_sink_free(self);
    return status;
}

void penstock_sink_free(penstock_sink *sink)
{
    if (!sink)
        return;
    if (sink->data && !sink->closed)
        penstock__file_spoil(sink->data, PENSTOCK_ERR_STATE);
    penstock_files_free(sink->own);
    penstock__free(sink->buffer);
    penstock__free(sink->description);
    penstock__free(sink->path);
    penstock__free(sink);
}

/* ---------------------------------------------------------------- converting ------------------ */

/* Samples on their way into the buffer. */
struct conversion {
    const penstock_cf32 *samples;
    uint8_t *to; /* NULL: they are written as they are */
    penstock_format format;
};

static void convert_step(const void *owner, size_t first, size_t count, struct penstock__troubles *troubles)
{
    const struct conversion *conversion = owner;
    const penstock_cf32 *samples = conversion->samples + first;
    penstock__count_written(troubles, samples, conversion->format, count);
    if (conversion->to)
        penstock__quantise(conversion->to + first * penstock_format_bytes(conversion->format), conversion->format,
                           samples, count);
}

/* `count` samples are counted, and converted to `to` unless that is NULL. */
static void convert(penstock_sink *sink, uint8_t *to, const penstock_cf32 *samples, size_t count)
{
    const struct conversion conversion = {.samples = samples, .to = to, .format = sink->desc.format};
    penstock__troubles_among(&sink->troubles, sink->desc.context, count, convert_step, &conversion);
    sink->samples += count;
}

/* ---------------------------------------------------------------- writing --------------------- */

static int flush(penstock_sink *sink)
{
    size_t bytes = sink->buffered;
    sink->buffered = 0;
    return sink->failure = penstock_file_write(sink->data, sink->buffer, bytes);
}

/* By the first write, when it is known how many files the set has. */
static int make_room(penstock_sink *sink)
{
    const size_t least = PENSTOCK__SINK_LEAST, most = PENSTOCK__SINK_BYTES,
                 share = PENSTOCK__SINKS_BYTES / sink->data->set->count / least * least;
    if (sink->buffer)
        return PENSTOCK_OK;
    sink->written_at = share < least ? least : share < most ? share : most;
    sink->room = sink->written_at * thread_count(sink);
    if (!penstock__file_is_file(sink->data))
        sink->written_at = least;
    return (sink->buffer = penstock__alloc(sink->room)) ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static int check_state(const penstock_sink *sink)
{
    if (sink->closed)
        return penstock__error(PENSTOCK_ERR_STATE, "'%.200s' is closed", sink->path);
    if (sink->failure)
        return penstock__error(sink->failure, "an earlier write to '%.200s' failed", sink->path);
    return penstock__forked(sink->data->set->forks, sink->path);
}

/* Samples that are written as they are need not go through the buffer. */
static int write_past(penstock_sink *sink, const penstock_cf32 *samples, size_t count)
{
    convert(sink, NULL, samples, count);
    return sink->failure = penstock_file_write(sink->data, samples, count * sizeof *samples);
}

/* As many as there is room for. */
static int write_through(penstock_sink *sink, const penstock_cf32 *samples, size_t count)
{
    const double now_s = penstock__now_s();
    if (!sink->buffered)
        sink->since_s = now_s;
    convert(sink, sink->buffer + sink->buffered, samples, count);
    sink->buffered += count * penstock_format_bytes(sink->desc.format);
    return sink->buffered >= sink->written_at || now_s - sink->since_s >= PENSTOCK__SINK_WAIT_S ? flush(sink)
                                                                                                : PENSTOCK_OK;
}

int penstock_sink_write(penstock_sink *sink, const penstock_cf32 *samples, size_t count)
{
    int status;
    if (!sink || (!samples && count))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "sink or samples is NULL");
    if ((status = check_state(sink)) ||
        (status = penstock__check_count("penstock_sink_write", count, sizeof *samples)) ||
        (count && (status = make_room(sink))))
        return status;
    const size_t sample_bytes = penstock_format_bytes(sink->desc.format);
    for (size_t some; count && !status; samples += some, count -= some) {
        const size_t room = (sink->room - sink->buffered) / sample_bytes;
        const bool past =
            sink->desc.format == PENSTOCK_CF32 && !sink->buffered && count >= PENSTOCK__SINK_BYTES / sizeof *samples;
        some = count < room ? count : room;
        status = past ? write_past(sink, samples, some) : write_through(sink, samples, some);
    }
    return status;
}

int penstock_sink_get_counters(const penstock_sink *sink, penstock_sink_counters *counters)
{
    if (!sink)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "sink is NULL");
    penstock_sink_counters mine = {.size = sizeof mine,
                                   .samples = sink->samples,
                                   .clipped = sink->troubles.clipped,
                                   .not_finite = sink->troubles.not_finite};
    return penstock__description_write(counters, &mine, sizeof mine, "penstock_sink_counters");
}

int penstock_sink_close(penstock_sink *sink)
{
    int status;
    if (!sink)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "sink is NULL");
    if ((status = check_state(sink)) || (status = flush(sink)) ||
        (sink->metadata && (status = sink->failure = penstock__sigmf_write(sink))))
        return status;
    if (sink->own && (status = sink->failure = penstock_files_complete(sink->own)))
        return status;
    sink->closed = true;
    return PENSTOCK_OK;
}
