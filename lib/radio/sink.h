/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the parts of a sink share. */
#ifndef PENSTOCK_RADIO_SINK_H
#define PENSTOCK_RADIO_SINK_H

#include "backends/backend.h"
#include "radio/files.h"
#include "radio/troubles.h"

/* Bytes that are written at once, as soon as they are there, with room for as many of each thread, so many at most.
 * Fewer where a set has so many files that they would keep more together, and where it is no file; or whatever there
 * is, once some have waited for so long. */
#define PENSTOCK__SINK_BYTES   ((size_t)1 << 18)
#define PENSTOCK__SINK_THREADS 16
#define PENSTOCK__SINK_LEAST   ((size_t)1 << 12)
#define PENSTOCK__SINKS_BYTES  ((size_t)1 << 26)
#define PENSTOCK__SINK_WAIT_S  0.1

struct penstock_sink {
    penstock_sink_desc desc; /* `description` is our copy */
    char *description;
    char *path;              /* of the samples, for error texts */
    penstock_files *own;     /* NULL: the caller's set */
    penstock_file *data;     /* of that set */
    penstock_file *metadata; /* written at close; NULL: raw */
    uint8_t *buffer;         /* NULL until the first write */
    size_t room;             /* bytes in it, */
    size_t buffered;         /* that wait, */
    size_t written_at;       /* and from how many on they are written */
    double since_s;          /* when the first of them came */
    int failure;             /* an earlier write failed: the file is not complete */
    uint64_t samples;        /* taken */
    struct penstock__troubles troubles;
    bool closed;
};

/* `count` samples in `format` (CF32, CS16, CS8 or CU8): rounded to the nearest step, limited to the range; what is not
 * a number becomes zero in the integer formats. */
void penstock__quantise(void *out, penstock_format format, const penstock_cf32 *in, size_t count);

/* Writes the metadata. */
int penstock__sigmf_write(const struct penstock_sink *sink);

/* Can this build write metadata? */
int penstock__sigmf_prepare(void);

#endif
