/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What a kind of source is: a const table of functions and a private struct. source.c does what all kinds share:
 * checks, limits, resampling, counting. A kind gives samples as they come.
 */
#ifndef PENSTOCK_RADIO_SOURCE_KIND_H
#define PENSTOCK_RADIO_SOURCE_KIND_H

#include "backends/backend.h"
#include "radio/captures.h"
#include "radio/identity.h"
#include "radio/troubles.h"

#include <stdatomic.h>

struct penstock__resampler;

struct penstock__source_kind {
    /* Fills in format, rate_hz, frequency_hz, total_samples, description and priv. `close` follows after a failure
     * too. A kind that is not built in has only this function, which says why. */
    int (*open)(penstock_source *source, const char *text);
    /* 1 .. capacity samples; `*count` 0: the end, or `stop` was set. Waits at most a tenth of a second after `stop`. */
    int (*read)(penstock_source *source, void *samples, size_t capacity, size_t *count);
    void (*close)(penstock_source *source);
    bool shared; /* with threads or processes of a driver: a child after fork() does not close it */
};

struct penstock_source {
    const struct penstock__source_kind *kind;
    unsigned forks; /* of the process that opened it: penstock__forks() */
    void *priv;
    penstock_context *context; /* NULL: nobody to tell */
    penstock_source_desc desc; /* checked; `antenna` is our copy */
    char *antenna;

    /* what the kind gives */
    penstock_format format;
    double rate_hz;
    double frequency_hz;
    uint64_t total_samples;
    char description[256];
    char hardware[256];                 /* "": unknown */
    struct penstock__captures captures; /* what a kind knows at first; one is added where it knows nothing */
    uint64_t first_index;               /* core:global_index */
    bool indexed;                       /* the recording has one */
    bool timed;                         /* the first sample was at `start_ns` */
    int64_t start_ns;
    struct penstock__identities files; /* that are read */

    penstock_source_counters counters; /* without those of `troubles` */
    struct penstock__troubles troubles;
    uint64_t left; /* samples that may still be taken from the kind */
    bool reading;  /* a read was asked for */
    bool ended;    /* the kind has no more */
    atomic_bool stop;

    /* with desc.resample_hz */
    struct penstock__resampler *resampler; /* NULL: the rate is right as it is */
    void *chunk;                           /* samples on their way to the resampler, as they come and as cf32 */
    penstock_cf32 *converted;
    size_t chunk_count, chunk_taken;
    struct penstock__failure failure; /* of the kind, reported once the resampler is empty */
};

extern const struct penstock__source_kind penstock__source_raw;
extern const struct penstock__source_kind penstock__source_sigmf;
extern const struct penstock__source_kind penstock__source_soapy;

/* penstock__log(), silent for a source without context. */
void penstock__source_note(const penstock_source *source, penstock_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* read and close of a kind whose private struct is a penstock__recording. */
int penstock__source_recording_read(penstock_source *source, void *samples, size_t capacity, size_t *count);
void penstock__source_recording_close(penstock_source *source);

/* Samples that may be taken, or given, before another capture begins. */
uint64_t penstock__source_until_gap(const penstock_source *source, uint64_t taken);
uint64_t penstock__source_until_gap_given(const penstock_source *source, uint64_t given);

/* Sets the counters of what was lost before the last sample that was taken; there is one. */
void penstock__source_count_lost(penstock_source *source);

/* For sinks, with the samples as they are given: of a capture by its place in `captures`, all about it, and when sample
 * number `sample` was, which may be any behind its first; false: unknown. */
void penstock__source_capture(const penstock_source *source, size_t index, penstock_source_capture *capture);
bool penstock__source_time(const penstock_source *source, size_t index, long double sample, int64_t *time_ns);
uint64_t penstock__source_first_index(const penstock_source *source);

/* Is `text` the name of a SigMF recording? */
bool penstock__sigmf_name(const char *text);

#endif
