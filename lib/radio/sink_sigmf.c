/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The metadata of a SigMF recording, written when the samples are complete: https://sigmf.org, version 1.2. */
#include "radio/sigmf.h"
#include "radio/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int metadata_error(const penstock_sink *sink)
{
    char text[128];
    return penstock__error(PENSTOCK_ERR_FILE, "cannot write '%.200s': %s", sink->metadata,
                           strerror_r(errno, text, sizeof text));
}

int penstock__sigmf_prepare(const penstock_sink *sink)
{
    return unlink(sink->metadata) && errno != ENOENT ? metadata_error(sink) : PENSTOCK_OK;
}

/* jansson's functions take NULL from each other: a failure anywhere makes the whole NULL. */
static json_t *describe(const penstock_sink_desc *desc)
{
    json_t *global = json_pack("{s:s, s:s, s:f, s:i, s:s}", "core:version", "1.2.0", "core:datatype",
                               penstock__sigmf_datatype(desc->format), "core:sample_rate", desc->rate_hz,
                               "core:num_channels", 1, "core:recorder", "Penstock");
    json_t *capture = json_pack("{s:i}", "core:sample_start", 0);
    bool good = global && capture;
    if (good && desc->description)
        good = !json_object_set_new(global, "core:description", json_string(desc->description));
    if (good && desc->frequency_hz > 0.0)
        good = !json_object_set_new(capture, "core:frequency", json_real(desc->frequency_hz));
    if (good)
        return json_pack("{s:o, s:[o], s:[]}", "global", global, "captures", capture, "annotations");
    json_decref(global);
    json_decref(capture);
    return NULL;
}

static int write_text(const penstock_sink *sink, const char *path, const char *text)
{
    size_t length = strlen(text);
    FILE *file = fopen(path, "wbxe");
    bool good;
    if (!file)
        return metadata_error(sink);
    good = fwrite(text, 1, length, file) == length && fputc('\n', file) != EOF && !fflush(file);
    if (fclose(file) || !good || rename(path, sink->metadata)) {
        int status = metadata_error(sink);
        unlink(path);
        return status;
    }
    return PENSTOCK_OK;
}

int penstock__sigmf_write(const penstock_sink *sink)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s.%ld.tmp", sink->metadata, (long)getpid());
    json_t *root = describe(&sink->desc);
    char *text = root ? json_dumps(root, JSON_INDENT(4) | JSON_REAL_PRECISION(17)) : NULL;
    int status;
    json_decref(root);
    if (!text)
        return penstock__error(PENSTOCK_ERR_FORMAT,
                               "no metadata for '%.200s': out of memory, or its description is not UTF-8",
                               sink->metadata);
    status = length < (int)sizeof path
                 ? write_text(sink, path, text)
                 : penstock__error(PENSTOCK_ERR_ARGUMENT, "the path '%.100s...' is too long", sink->metadata);
    free(text);
    return status;
}
