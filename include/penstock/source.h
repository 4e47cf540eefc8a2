/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Where samples come from (recordings, standard input, SoapySDR radios) and where they are written. */
#ifndef PENSTOCK_SOURCE_H
#define PENSTOCK_SOURCE_H

#include <penstock/penstock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_source penstock_source;

typedef struct penstock_source_desc {
    size_t size;
    bool raw;               /* `format` describes the file; else only SigMF is accepted for files */
    penstock_format format; /* of raw files and standard input; of a radio's stream if `raw` is set */
    double rate_hz;         /* of raw files; asked of a radio; 0: a radio's present rate */
    double frequency_hz;    /* asked of a radio; 0: as it is */
    bool gain_set;
    double gain_db;
    const char *antenna; /* NULL: as it is */
    double bandwidth_hz; /* 0: as it is */
    unsigned channel;
    uint64_t count;     /* samples to read; 0: all */
    double seconds;     /* likewise in time; 0: all */
    double resample_hz; /* give samples at this rate, as PENSTOCK_CF32; 0: as they come */
    double timeout_s;   /* a radio silent for this long is reported; 0: 1 s */
    double reconnect_s; /* a radio that disappears is looked for during this time; 0: 5 s; < 0: not at all */
    bool soapy_log; /* while the source is open, SoapySDR's own messages go to the context's log; else SoapySDR prints
                       them on standard error. It has one handler for the process: not for a program that has set its
                       own */
} penstock_source_desc;

#define PENSTOCK_SOURCE_DESC(...)                         \
    (penstock_source_desc)                                \
    {                                                     \
        .size = sizeof(penstock_source_desc), __VA_ARGS__ \
    }

typedef struct penstock_source_info {
    size_t size;
    penstock_format format;  /* of what penstock_source_read() gives */
    double rate_hz;          /* likewise */
    double frequency_hz;     /* 0: unknown */
    uint64_t total_samples;  /* 0: unknown or endless */
    const char *description; /* "SigMF recording x.sigmf-meta", "SoapySDR replay (...)"; lives as long as the source */
} penstock_source_info;

#define PENSTOCK_SOURCE_INFO                 \
    (penstock_source_info)                   \
    {                                        \
        .size = sizeof(penstock_source_info) \
    }

typedef struct penstock_source_counters {
    size_t size;
    uint64_t samples;      /* given so far */
    uint64_t overflows;    /* times that the radio reported lost samples */
    uint64_t lost_samples; /* how many, where time stamps tell */
    uint64_t timeouts;
    uint64_t reconnects;
    uint64_t trailing_bytes; /* at a file's end that make no whole sample */
} penstock_source_counters;

#define PENSTOCK_SOURCE_COUNTERS                 \
    (penstock_source_counters)                   \
    {                                            \
        .size = sizeof(penstock_source_counters) \
    }

/*
 * `text`: a path (SigMF by its name .sigmf-meta or .sigmf-data, else raw, which needs desc.raw and desc.rate_hz),
 * "-" for standard input (raw), or "soapy:ARGS" with SoapySDR's device arguments ("soapy:driver=replay,path=...").
 * `context` is told what happens on the way (a radio lost and back, samples lost); NULL: nobody is.
 */
PENSTOCK_API int penstock_source_open(penstock_source **source, penstock_context *context, const char *text,
                                      const penstock_source_desc *desc);
PENSTOCK_API int penstock_source_get_info(const penstock_source *source, penstock_source_info *info);

/* As desc.resample_hz, for a caller who wants to see the source's own rate first. Before the first read, once. */
PENSTOCK_API int penstock_source_resample(penstock_source *source, double rate_hz);

/* Up to `capacity` samples; `*count` 0 with PENSTOCK_OK means the end. After an error what was read before stays good.
 */
PENSTOCK_API int penstock_source_read(penstock_source *source, void *samples, size_t capacity, size_t *count);

/* Makes the present or next read return soon with what there is and then the end. From any thread or a signal handler.
 */
PENSTOCK_API void penstock_source_stop(penstock_source *source);
PENSTOCK_API int penstock_source_get_counters(const penstock_source *source, penstock_source_counters *counters);
PENSTOCK_API void penstock_source_free(penstock_source *source);

typedef struct penstock_sink penstock_sink;

typedef struct penstock_sink_desc {
    size_t size;
    penstock_format format;  /* of the file; samples are limited to its range */
    double rate_hz;          /* > 0 */
    double frequency_hz;     /* 0: unknown */
    const char *description; /* SigMF's core:description; NULL: none */
} penstock_sink_desc;

#define PENSTOCK_SINK_DESC(...)                         \
    (penstock_sink_desc)                                \
    {                                                   \
        .size = sizeof(penstock_sink_desc), __VA_ARGS__ \
    }

/* SigMF (two files) if `path` ends in .sigmf-meta, else raw; "-" is standard output. */
PENSTOCK_API int penstock_sink_open(penstock_sink **sink, const char *path, const penstock_sink_desc *desc);
PENSTOCK_API int penstock_sink_write(penstock_sink *sink, const penstock_cf32 *samples, size_t count);

/* Writes what is buffered, and the metadata; an error here means that the file is not complete. */
PENSTOCK_API int penstock_sink_close(penstock_sink *sink);
PENSTOCK_API void penstock_sink_free(penstock_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
