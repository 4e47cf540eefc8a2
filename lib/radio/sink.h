/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the parts of a sink share. */
#ifndef PENSTOCK_RADIO_SINK_H
#define PENSTOCK_RADIO_SINK_H

#include "backends/backend.h"
#include "radio/files.h"
#include "radio/troubles.h"

#define PENSTOCK__SINK_BYTES   ((size_t)1 << 18) /* written at once, as soon as they are there; room for each thread, */
#define PENSTOCK__SINK_THREADS 16                /* so many at most; */
#define PENSTOCK__SINK_LEAST                                                                                          \
    ((size_t)1 << 12)                           /* fewer, but no fewer than these, where a set has so many files that \
                                                 */
#define PENSTOCK__SINKS_BYTES ((size_t)1 << 26) /* they would keep more than this together, and where it is no file */
#define PENSTOCK__SINK_WAIT_S 0.1               /* or where some have waited for so long */

struct penstock_sink {
    penstock_sink_desc desc; /* `description` is our copy */
    char *description;
    char *path;              /* of the samples, for error texts */
    penstock_files *own;     /* NULL: the caller's set */
    penstock_file *data;     /* of that set */
    penstock_file *metadata; /* written at close; NULL: raw */
    uint8_t *buffer;
    size_t written_at, room,
        buffered;     /* bytes: from how many on they are written; room is there from the first write on */
    double since_s;   /* that the first of those that wait has waited */
    int failure;      /* an earlier write failed: the file is not complete */
    uint64_t samples; /* taken */
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
