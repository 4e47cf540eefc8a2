/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Where samples come from (recordings, standard input, SoapySDR radios) and where they are written. */
#ifndef PENSTOCK_SOURCE_H
#define PENSTOCK_SOURCE_H

#include <penstock/context.h>
#include <penstock/samples.h>

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
    double reconnect_s; /* a radio that disappears is looked for during this time, until it gives samples again; 0: 5 s;
                           < 0: not at all */
    bool soapy_log; /* while the source is open, SoapySDR's own messages go to the context's log; else SoapySDR prints
                       them on standard error. It has one handler for the process: not for a program that has set its
                       own */
} penstock_source_desc;

#define PENSTOCK_SOURCE_DESC(...) PENSTOCK_DESCRIPTION(penstock_source_desc, __VA_ARGS__)

typedef struct penstock_source_info {
    size_t size;
    penstock_format format;  /* of what penstock_source_read() gives */
    double rate_hz;          /* likewise */
    double frequency_hz;     /* of the first capture of which it is known; 0: unknown */
    uint64_t total_samples;  /* 0: unknown or endless */
    const char *description; /* "SigMF recording x.sigmf-meta", "SoapySDR replay (...)"; lives as long as the source */
    const char *hardware;    /* a recording's core:hw, a radio's driver and hardware; NULL: unknown; lives likewise */
    uint64_t first_index;    /* core:global_index of the first sample: its number in the stream that was recorded */
    bool timed;              /* it is known when the first sample was: */
    int64_t start_ns;        /* nanoseconds since 1970-01-01T00:00:00Z; of a radio by this machine's clock, to the
                                millisecond, and from the first read on */
} penstock_source_info;

#define PENSTOCK_SOURCE_INFO PENSTOCK_DESCRIPTION(penstock_source_info, )

typedef struct penstock_source_counters {
    size_t size;
    uint64_t samples;      /* given so far */
    uint64_t overflows;    /* times that the radio reported lost samples, or its time stamps alone told of some */
    uint64_t lost_samples; /* lost before samples that were taken, where time stamps or a recording's metadata tell how
                              many: `taken` and these together are the whole stream */
    uint64_t timeouts;
    uint64_t reconnects;
    uint64_t trailing_bytes;  /* at a file's end that make no whole sample */
    uint64_t taken;           /* samples that came from the file or radio: with resample_hz others than were given */
    uint64_t clipped;         /* of these, with a part at the least or largest value of an integer format */
    uint64_t not_finite;      /* of these, NaN or infinite; they are given as they are */
    uint64_t unknown_losses;  /* losses that are not among lost_samples: nobody knows how many samples they were */
    uint64_t missing_samples; /* that a file had when it was opened, and no more when they were to be read */
} penstock_source_counters;

#define PENSTOCK_SOURCE_COUNTERS PENSTOCK_DESCRIPTION(penstock_source_counters, )

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

/*
 * A capture, as SigMF calls it: samples without a gap between them, on one frequency. The first one begins with the
 * first sample; a gap, another frequency, or a recording's core:datetime begins another. The samples of one
 * penstock_source_read() lie in one capture.
 */
typedef struct penstock_source_capture {
    size_t size;
    uint64_t sample;     /* its first one, counted from 0 as they are given */
    uint64_t position;   /* of that sample in the stream as it was, had nothing been lost, to the nearest with
                            resample_hz */
    uint64_t lost;       /* samples lost right before it, at the source's own rate */
    bool lost_unknown;   /* besides these a number of samples that nobody knows */
    double frequency_hz; /* 0: unknown */
    bool timed;          /* it is known when its first sample was: */
    int64_t time_ns;     /* nanoseconds since 1970-01-01T00:00:00Z */
} penstock_source_capture;

#define PENSTOCK_SOURCE_CAPTURE PENSTOCK_DESCRIPTION(penstock_source_capture, )

/* Capture number `index`, from 0 on: 1, 0 where there is none so far, or an error. A recording's are known from the
 * start; of a radio's without a sink that follows it the last 32768 at least. */
PENSTOCK_API int penstock_source_get_capture(const penstock_source *source, uint64_t index,
                                             penstock_source_capture *capture);

/* Where a sample, counted as they are given, is in the stream with all that was lost before it. */
PENSTOCK_API int penstock_source_get_position(const penstock_source *source, uint64_t sample, uint64_t *position);

/* Makes the present or next read return soon with what there is and then the end. From any thread or a signal handler.
 */
PENSTOCK_API void penstock_source_stop(penstock_source *source);
PENSTOCK_API int penstock_source_get_counters(const penstock_source *source, penstock_source_counters *counters);
PENSTOCK_API void penstock_source_free(penstock_source *source);

typedef struct penstock_sink penstock_sink;

typedef struct penstock_sink_desc {
    size_t size;
    penstock_format format;       /* of the file: cf32, cs16, cs8 or cu8; samples are limited to its range */
    double rate_hz;               /* > 0 */
    double frequency_hz;          /* 0: unknown */
    const char *description;      /* SigMF's core:description; NULL: none */
    struct penstock_files *files; /* penstock/files.h: the set that the files belong to, which the caller completes
                                         after penstock_sink_close() and frees after the sink; NULL: one of its own */
    penstock_source *source; /* where the samples come from: SigMF metadata carries over its hardware, times and gaps.
                                It lives until penstock_sink_close(). NULL: nothing is known */
    uint64_t decimation;     /* sample m is that of the source's sample m * decimation / interpolation; each of the two
                                1 .. 2^31, 0: 1 */
    uint64_t interpolation;
    penstock_context *context; /* whose threads convert and count what is written; it lives as long as the sink. NULL:
                                  the caller's thread does */
} penstock_sink_desc;

#define PENSTOCK_SINK_DESC(...) PENSTOCK_DESCRIPTION(penstock_sink_desc, __VA_ARGS__)

/*
 * SigMF (two files) if `path` ends in .sigmf-meta, else raw; "-" is standard output. Until penstock_sink_close() has
 * succeeded old files stay as they were, and with penstock_sink_free() before it nothing was written; pipes and devices
 * are written at once.
 *
 * With `source`, SigMF metadata has a capture for each of the source's, from the first sample on whose own, m *
 * decimation / interpolation, lies in it. core:global_index is the position of that sample at the sink's rate, to the
 * nearest whole number: half a sample off at the most, however many gaps there are. core:datetime is that sample's to
 * the nanosecond.
 * Behind an unknown loss there is no core:global_index, and an annotation says what happened; later ones count what is
 * known. core:frequency is as far from `frequency_hz` as the capture's from the source's; a capture of which none is
 * known has none where others have.
 */
PENSTOCK_API int penstock_sink_open(penstock_sink **sink, const char *path, const penstock_sink_desc *desc);
PENSTOCK_API int penstock_sink_write(penstock_sink *sink, const penstock_cf32 *samples, size_t count);

typedef struct penstock_sink_counters {
    size_t size;
    uint64_t samples;    /* taken so far */
    uint64_t clipped;    /* of these, beyond an integer format's range by more than half a step, and limited to it */
    uint64_t not_finite; /* of these, NaN or infinite: written as they are as PENSTOCK_CF32; in an integer format NaN
                            becomes zero, infinity the largest value */
} penstock_sink_counters;

#define PENSTOCK_SINK_COUNTERS PENSTOCK_DESCRIPTION(penstock_sink_counters, )

PENSTOCK_API int penstock_sink_get_counters(const penstock_sink *sink, penstock_sink_counters *counters);

/* Writes what is buffered, and the metadata; an error here means that the file is not complete. */
PENSTOCK_API int penstock_sink_close(penstock_sink *sink);
PENSTOCK_API void penstock_sink_free(penstock_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
