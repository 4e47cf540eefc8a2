/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Files and standard input that hold nothing but samples: the caller says in which format and at which rate. */
#include "radio/recording.h"
#include "radio/source_kind.h"

#include <stdio.h>
#include <string.h>

static int check_description(const penstock_source_desc *desc, const char *text)
{
    if (!desc->raw)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "'%.200s' is not SigMF by its name; a raw recording needs its format (cf32, cs16, cs8, "
                               "cu8) and its rate",
                               text);
    if (!penstock_format_bytes(desc->format) || desc->format == PENSTOCK_PLANAR)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "'%.200s': a raw recording is cf32, cf16, cs16, cs8, cu8 or f32, not format %d", text,
                               (int)desc->format);
    if (desc->rate_hz <= 0.0)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "'%.200s': a raw recording needs its sample rate", text);
    return PENSTOCK_OK;
}

static int raw_open(penstock_source *source, const char *text)
{
    const penstock_source_desc *desc = &source->desc;
    size_t sample_bytes = penstock_format_bytes(desc->format);
    struct penstock__recording *recording;
    uint64_t bytes;
    int status;

    if ((status = check_description(desc, text)))
        return status;
    if (!(recording = source->priv = penstock__calloc(1, sizeof *recording)))
        return PENSTOCK_ERR_MEMORY;
    recording->fd = -1;
    if ((status = penstock__recording_open(recording, text, sample_bytes, 0, 0, &bytes)) ||
        (status = penstock__identities_add_descriptor(&source->files, recording->fd)))
        return status;
    source->format = desc->format;
    source->rate_hz = desc->rate_hz;
    source->frequency_hz = desc->frequency_hz;
    source->total_samples = bytes / sample_bytes;
    snprintf(source->description, sizeof source->description, "%s, %s", recording->name,
             penstock_format_name(source->format));
    return PENSTOCK_OK;
}

int penstock__source_recording_read(penstock_source *source, void *samples, size_t capacity, size_t *count)
{
    struct penstock__recording *recording = source->priv;
    int status = penstock__recording_read(recording, source->context, samples, capacity, count, &source->stop);
    if (status || *count || !recording->ended)
        return status;
    source->counters.trailing_bytes = recording->partial_bytes;
    source->counters.missing_samples = penstock__recording_missing(recording);
    if (source->counters.missing_samples)
        penstock__source_note(source, PENSTOCK_LOG_WARNING,
                              "'%s' has become shorter while it was read: %llu samples of %llu are missing",
                              recording->name, (unsigned long long)source->counters.missing_samples,
                              (unsigned long long)(source->counters.taken + source->counters.missing_samples));
    return PENSTOCK_OK;
}

void penstock__source_recording_close(penstock_source *source)
{
    if (source->priv)
        penstock__recording_close(source->priv);
    penstock__free(source->priv);
}

const struct penstock__source_kind penstock__source_raw = {
    .open = raw_open, .read = penstock__source_recording_read, .close = penstock__source_recording_close};
