/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Whole samples from a file, a pipe or standard input, whatever chunks the bytes come in. */
#ifndef PENSTOCK_RADIO_RECORDING_H
#define PENSTOCK_RADIO_RECORDING_H

#include "backends/backend.h"

#include <stdatomic.h>

struct penstock__recording {
    int fd; /* < 0: closed */
    bool standard_input;
    bool stream;         /* a pipe, socket or device: it has no size and may keep a reader waiting */
    char name[200];      /* for error texts, shortened */
    size_t sample_bytes; /* 1 .. 8 */
    uint64_t bytes_left; /* of a file; of a stream: UINT64_MAX less what was read */
    uint8_t partial[8];  /* bytes of a sample that is not whole yet */
    size_t partial_bytes;
    bool ended;
};

/*
 * Opens `path` ("-": standard input), for samples of `sample_bytes` bytes, leaving out `skip_bytes` in front and
 * `trailing_bytes` at the end (both only for files that have a size). `*bytes` is the size of what is left, 0 for
 * a stream. Refuses directories and empty files. After a failure the struct is closed.
 */
int penstock__recording_open(struct penstock__recording *recording, const char *path, size_t sample_bytes,
                             uint64_t skip_bytes, uint64_t trailing_bytes, uint64_t *bytes);

/* Up to `capacity` whole samples; fewer from a stream, as they come. 0: the end, or `stop` was set. At the end
 * partial_bytes says how many bytes made no whole sample. Much of a file is read by all threads of the context; NULL:
 * by the caller's. */
int penstock__recording_read(struct penstock__recording *recording, penstock_context *context, void *samples,
                             size_t capacity, size_t *count, const atomic_bool *stop);

/* After the end: samples that the file had when it was opened, and that did not come. */
uint64_t penstock__recording_missing(const struct penstock__recording *recording);
void penstock__recording_close(struct penstock__recording *recording);

#endif
