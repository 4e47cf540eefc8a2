/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The metadata of a SigMF recording, written when the samples are complete: https://sigmf.org, version 1.2. */
#include "radio/sigmf_describe.h"

#include <string.h>

int penstock__sigmf_prepare(void)
{
    return PENSTOCK_OK;
}

int penstock__sigmf_write(const penstock_sink *sink)
{
    json_t *root = penstock__sigmf_describe(sink);
    char *text = root ? json_dumps(root, JSON_INDENT(4) | JSON_REAL_PRECISION(17)) : NULL;
    int status;
    json_decref(root);
    if (!text)
        return penstock__error(PENSTOCK_ERR_FORMAT,
                               "no metadata for '%.200s': out of memory, or its description is not UTF-8", sink->path);
    if (!(status = penstock_file_write(sink->metadata, text, strlen(text))))
        status = penstock_file_write(sink->metadata, "\n", 1);
    free(text);
    return status;
}
