/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Pushes and pulls through the memory that a stream lends. Where they are timed nothing is copied: samples are there as
 * if a radio's driver had written them, those of earlier runs, and results are left where they are. */
#ifndef PENSTOCK_APPS_CASES_LENT_H
#define PENSTOCK_APPS_CASES_LENT_H

#include <penstock/stream.h>

/* As penstock_stream_push(); `copies` is false where it is timed, after a pass in which it was not. */
int lent_push(penstock_stream *stream, bool copies, const void *items, size_t count, size_t *taken);

/* As penstock_stream_pull(). */
int lent_pull(penstock_stream *stream, bool copies, void *items, size_t capacity, bool wait, size_t *count);

#endif
