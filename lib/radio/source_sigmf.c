/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* SigMF recordings: metadata in NAME.sigmf-meta, samples in NAME.sigmf-data or in the file that core:dataset names. */
#include "radio/recording.h"
#include "radio/sigmf.h"
#include "radio/source_kind.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* `folder/base` + ending, where `path` is folder/base.sigmf-meta or folder/base.sigmf-data. */
static int name_beside(char out[PATH_MAX], const char *path, const char *dataset, const char *ending)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t keep = (size_t)((dataset ? (slash ? slash + 1 : path) : dot) - path);
    int length = snprintf(out, PATH_MAX, "%.*s%s", (int)keep, path, dataset ? dataset : ending);
    if (keep > PATH_MAX || length < 0 || length >= PATH_MAX)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "the path '%.100s...' is too long", path);
    return PENSTOCK_OK;
}

/* The whole file; the caller frees `*text`. */
static int load_metadata(char **text, size_t *bytes, const char *path)
{
    struct penstock__recording file;
    atomic_bool never = false;
    uint64_t size;
    int status = penstock__recording_open(&file, path, 1, 0, 0, &size);
    if (status)
        return status;
    if (file.stream || size > PENSTOCK__SIGMF_MAX_BYTES)
        status = penstock__error(PENSTOCK_ERR_FORMAT, "'%s' is not the metadata of a SigMF recording: %s", file.name,
                                 file.stream ? "it is not a file" : "it is larger than 64 MiB");
    else if (!(*text = penstock__alloc((size_t)size)))
        status = PENSTOCK_ERR_MEMORY;
    else
        status = penstock__recording_read(&file, NULL, *text, (size_t)size, bytes, &never);
    penstock__recording_close(&file);
    return status;
}

static int check_caller(const penstock_source_desc *desc, const struct penstock__sigmf *sigmf, const char *path)
{
    if (desc->raw && desc->format != sigmf->format)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "'%.200s' is %s by its metadata, not %s", path,
                               penstock_format_name(sigmf->format),
                               penstock_format_bytes(desc->format) ? penstock_format_name(desc->format) : "unknown");
    if (desc->rate_hz > 0.0 && sigmf->rate_hz > 0.0 && desc->rate_hz != sigmf->rate_hz)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "'%.200s' has %.15g samples per second by its metadata, not %.15g", path, sigmf->rate_hz,
                               desc->rate_hz);
    if (desc->rate_hz <= 0.0 && sigmf->rate_hz <= 0.0)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "'%.200s' does not say its sample rate: give one", path);
    return PENSTOCK_OK;
}

static int open_data(penstock_source *source, const struct penstock__sigmf *sigmf, const char *path)
{
    struct penstock__recording *recording = source->priv;
    const double said_hz = sigmf->captures.items[0].frequency_hz,
                 first_hz = said_hz > 0.0 ? said_hz : source->desc.frequency_hz;
    size_t sample_bytes = penstock_format_bytes(sigmf->format);
    char data[PATH_MAX];
    uint64_t bytes;
    int status = name_beside(data, path, sigmf->dataset[0] ? sigmf->dataset : NULL, ".sigmf-data");
    if (!status)
        status =
            penstock__recording_open(recording, data, sample_bytes, sigmf->header_bytes, sigmf->trailing_bytes, &bytes);
    if (!status)
        status = penstock__identities_add_descriptor(&source->files, recording->fd);
    if (status)
        return status;
    source->format = sigmf->format;
    source->rate_hz = sigmf->rate_hz > 0.0 ? sigmf->rate_hz : source->desc.rate_hz;
    source->frequency_hz = first_hz > 0.0 ? first_hz : sigmf->frequency_hz;
    source->total_samples = bytes / sample_bytes;
    return PENSTOCK_OK;
}

/* The source takes over the captures. The first ones, where they say no frequency, have the caller's: what later ones
 * say is not known of them. */
static void take_captures(penstock_source *source, struct penstock__sigmf *sigmf, const char *path)
{
    source->captures = sigmf->captures;
    sigmf->captures = (struct penstock__captures){0};
    for (size_t i = 0; i < source->captures.count; i++)
        if (!(source->captures.items[i].frequency_hz > 0.0))
            source->captures.items[i].frequency_hz = source->desc.frequency_hz;
    source->first_index = sigmf->first_index;
    source->indexed = sigmf->indexed;
    source->timed = penstock__capture_time(&source->captures.items[0], source->rate_hz, 0, &source->start_ns);
    snprintf(source->hardware, sizeof source->hardware, "%s", sigmf->hardware);
    if (sigmf->retuned)
        penstock__source_note(source, PENSTOCK_LOG_WARNING,
                              "'%.200s' was recorded on several frequencies, of which %.15g Hz is the first", path,
                              sigmf->frequency_hz);
    if (sigmf->went_back)
        penstock__source_note(source, PENSTOCK_LOG_WARNING,
                              "'%.200s': core:global_index goes back, which is taken for a loss of unknown size", path);
    if (sigmf->bad_time)
        penstock__source_note(source, PENSTOCK_LOG_WARNING,
                              "'%.200s': a core:datetime is not YYYY-MM-DDTHH:MM:SS.SSSZ and is left out", path);
}

static int sigmf_open(penstock_source *source, const char *text)
{
    struct penstock__recording *recording;
    struct penstock__sigmf sigmf;
    char path[PATH_MAX], *metadata = NULL;
    size_t bytes = 0;
    int status;
    if (!(recording = source->priv = penstock__calloc(1, sizeof *recording)))
        return PENSTOCK_ERR_MEMORY;
    recording->fd = -1;
    if ((status = name_beside(path, text, NULL, ".sigmf-meta")) ||
        (status = penstock__identities_add_path(&source->files, path)))
        return status;
    if (!(status = load_metadata(&metadata, &bytes, path)))
        status = penstock__sigmf_parse(&sigmf, metadata, bytes, path);
    penstock__free(metadata);
    if (status)
        return status;
    if (!(status = check_caller(&source->desc, &sigmf, path)) && !(status = open_data(source, &sigmf, path)))
        take_captures(source, &sigmf, path);
    penstock__sigmf_free(&sigmf);
    if (status)
        return status;
    snprintf(source->description, sizeof source->description, "SigMF recording %.200s, %s", path,
             penstock_format_name(source->format));
    return PENSTOCK_OK;
}

const struct penstock__source_kind penstock__source_sigmf = {
    .open = sigmf_open, .read = penstock__source_recording_read, .close = penstock__source_recording_close};
