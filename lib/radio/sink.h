/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the parts of a sink share. */
#ifndef PENSTOCK_RADIO_SINK_H
#define PENSTOCK_RADIO_SINK_H

#include "backends/backend.h"

#define PENSTOCK__SINK_BYTES ((size_t)1 << 18) /* written at a time */

struct penstock_sink {
    penstock_sink_desc desc; /* `description` is our copy */
    char *description;
    char *path;     /* of the samples; NULL: standard output */
    char *metadata; /* path of the SigMF metadata, written at close; NULL: raw */
    int fd;
    uint8_t *buffer;
    size_t buffered; /* bytes */
    int failure;     /* an earlier write failed: the file is not complete */
    bool closed;
};

/* `count` samples in `format` (CF32, CS16, CS8 or CU8): rounded to the nearest step, limited to the range; what is not
 * a number becomes zero in the integer formats. */
void penstock__quantise(void *out, penstock_format format, const penstock_cf32 *in, size_t count);

/* Writes the metadata beside its place and moves it there. */
int penstock__sigmf_write(const struct penstock_sink *sink);

/* Removes old metadata, which would describe the new samples wrongly until close. */
int penstock__sigmf_prepare(const struct penstock_sink *sink);

#endif
