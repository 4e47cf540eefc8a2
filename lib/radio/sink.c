/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sinks: samples to a file or standard output, in pieces of a fixed size, with every failure reported once. */
#include "radio/sink.h"
#include "core/description.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char meta_ending[] = ".sigmf-meta";

static const char *sink_name(const penstock_sink *sink)
{
    return sink->path ? sink->path : "standard output";
}

static int system_error(const penstock_sink *sink, const char *what)
{
    char text[128];
    return penstock__error(PENSTOCK_ERR_FILE, "cannot %s '%.200s': %s", what, sink_name(sink),
                           strerror_r(errno, text, sizeof text));
}

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
    return PENSTOCK_OK;
}

/* Sets path and metadata from the caller's path. */
static int set_names(penstock_sink *sink, const char *path)
{
    size_t length = strlen(path), ending = sizeof meta_ending - 1;
    bool sigmf = length > ending && !strcmp(path + length - ending, meta_ending);
    if (!strcmp(path, "-"))
        return PENSTOCK_OK;
    if (!(sink->path = penstock__strdup(path)))
        return PENSTOCK_ERR_MEMORY;
    if (!sigmf)
        return PENSTOCK_OK;
    if (!(sink->metadata = penstock__strdup(path)))
        return PENSTOCK_ERR_MEMORY;
    memcpy(sink->path + length - ending, ".sigmf-data", ending);
    return penstock__sigmf_prepare(sink);
}

static int open_file(penstock_sink *sink)
{
    if (!sink->path) {
        sink->fd = STDOUT_FILENO;
        return PENSTOCK_OK;
    }
    do
        sink->fd = open(sink->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    while (sink->fd < 0 && errno == EINTR);
    return sink->fd < 0 ? system_error(sink, "write") : PENSTOCK_OK;
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
    self->fd = -1;
    if ((status = penstock__description_read(&self->desc, sizeof self->desc, desc, "penstock_sink_desc")) ||
        (status = check_description(&self->desc)))
        goto fail;
    status = PENSTOCK_ERR_MEMORY;
    if (!(self->buffer = penstock__alloc(PENSTOCK__SINK_BYTES)) ||
        (self->desc.description && !(self->description = penstock__strdup(self->desc.description))))
        goto fail;
    self->desc.description = self->description;
    if ((status = set_names(self, path)) || (status = open_file(self)))
        goto fail;
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
    if (sink->path && sink->fd >= 0)
        close(sink->fd);
    penstock__free(sink->buffer);
    penstock__free(sink->description);
    penstock__free(sink->path);
    penstock__free(sink->metadata);
    penstock__free(sink);
}

/* ---------------------------------------------------------------- writing --------------------- */

static int flush(penstock_sink *sink)
{
    size_t done = 0;
    while (done < sink->buffered) {
        ssize_t written = write(sink->fd, sink->buffer + done, sink->buffered - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return sink->failure = system_error(sink, "write");
        done += (size_t)written;
    }
    sink->buffered = 0;
    return PENSTOCK_OK;
}

static int check_state(const penstock_sink *sink)
{
    if (sink->closed)
        return penstock__error(PENSTOCK_ERR_STATE, "'%.200s' is closed", sink_name(sink));
    if (sink->failure)
        return penstock__error(sink->failure, "an earlier write to '%.200s' failed", sink_name(sink));
    return PENSTOCK_OK;
}

int penstock_sink_write(penstock_sink *sink, const penstock_cf32 *samples, size_t count)
{
    size_t sample_bytes;
    int status;
    if (!sink || (!samples && count))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "sink or samples is NULL");
    if ((status = check_state(sink)))
        return status;
    sample_bytes = penstock_format_bytes(sink->desc.format);
    while (count) {
        size_t n = (PENSTOCK__SINK_BYTES - sink->buffered) / sample_bytes;
        if (n > count)
            n = count;
        penstock__quantise(sink->buffer + sink->buffered, sink->desc.format, samples, n);
        sink->buffered += n * sample_bytes;
        samples += n;
        count -= n;
        if (sink->buffered == PENSTOCK__SINK_BYTES && (status = flush(sink)))
            return status;
    }
    return PENSTOCK_OK;
}

int penstock_sink_close(penstock_sink *sink)
{
    int status;
    if (!sink)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "sink is NULL");
    if ((status = check_state(sink)) || (status = flush(sink)))
        return status;
    sink->closed = true;
    /* some file systems report a full disk only here */
    if (sink->path && close(sink->fd))
        status = sink->failure = system_error(sink, "write");
    sink->fd = -1;
    return !status && sink->metadata ? penstock__sigmf_write(sink) : status;
}
