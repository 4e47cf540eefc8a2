/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Transforms of a stream of vectors: push vectors one by one or many at once, pull their transforms in the same order.
 * They are gathered into batches as large as the device likes, and several batches are on their way at a time. Or run
 * both in one call, which needs no batches on a device that works in the host's memory.
 */
#ifndef PENSTOCK_FFT_STREAM_H
#define PENSTOCK_FFT_STREAM_H

#include <penstock/fft.h>
#include <penstock/stream_stats.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_fft_stream penstock_fft_stream;

typedef struct penstock_fft_stream_desc {
    size_t size;
    size_t n; /* transform length, 1 .. 2^23 */
    penstock_direction direction;
    bool real;            /* a vector pushed is n floats, else n penstock_cf32; what comes out is n penstock_cf32 */
    const float *window;  /* n factors by place in the vector; NULL: all one */
    bool centered;        /* zero frequency in the middle, index n/2: of the result forward, of the input in reverse */
    double max_latency_s; /* the oldest waiting vector is sent by the first push or pull after this time, and given by
                             the first pull; 0: only full batches and the end */
} penstock_fft_stream_desc;

#define PENSTOCK_FFT_STREAM_DESC(...) PENSTOCK_DESCRIPTION(penstock_fft_stream_desc, __VA_ARGS__)

typedef struct penstock_fft_stream_counters {
    size_t size;
    uint64_t pushed, pulled; /* vectors */
    uint64_t fallbacks;      /* batches that the CPU did because the device failed */
    uint64_t batch;          /* vectors of a full batch */
} penstock_fft_stream_counters;

#define PENSTOCK_FFT_STREAM_COUNTERS PENSTOCK_DESCRIPTION(penstock_fft_stream_counters, )

/* Any split into pushes gives the same bits; errors as penstock_fft_plan(). */
PENSTOCK_API int penstock_fft_stream_new(penstock_fft_stream **stream, penstock_context *context,
                                         const penstock_fft_stream_desc *desc, const char *device);

/* Name of the device that computes; lives as long as the stream. */
PENSTOCK_API const char *penstock_fft_stream_device(const penstock_fft_stream *stream);

/* `*taken` < count when transforms wait to be pulled: pull, then push the rest (penstock.h: pushes). After a failure of
 * the device every call returns the failure until a reset, but pull first gives what was complete before. */
PENSTOCK_API int penstock_fft_stream_push(penstock_fft_stream *stream, const void *vectors, size_t count,
                                          size_t *taken);

/* Up to `capacity` transforms that are ready; `wait`: first finish what has been sent to the device. Without it they
 * come later, by as many batches as are in flight. Pulling until none comes always makes room for a push. */
PENSTOCK_API int penstock_fft_stream_pull(penstock_fft_stream *stream, penstock_cf32 *vectors, size_t capacity,
                                          bool wait, size_t *count);

/*
 * Push and pull in one: `*taken` of the `count` vectors at `in` are taken, and `*given` <= capacity transforms come to
 * `out`, which does not overlap `in`. A device that works in the host's memory (cpu, reference) transforms straight
 * from `in` to `out` where nothing waits in the stream: no copy, no batch to wait for, and the same bits. Others push,
 * then pull without waiting. Call again with the rest; nothing comes while both are 0. After an error no vector of this
 * call was taken by a device that works straight.
 */
PENSTOCK_API int penstock_fft_stream_run(penstock_fft_stream *stream, const void *in, size_t count, size_t *taken,
                                         penstock_cf32 *out, size_t capacity, size_t *given);

/* Seconds until max_latency_s has passed for a vector that waits, 0 where a pull gives something at once; INFINITY
 * where nothing waits or there is no limit. */
PENSTOCK_API double penstock_fft_stream_due_s(const penstock_fft_stream *stream);

/* Other factors (n of them, NULL: all one) from the next vector pushed on; those before keep theirs, and none is lost.
 * Takes as long as penstock_fft_stream_new(). After an error the window is the one before. */
PENSTOCK_API int penstock_fft_stream_set_window(penstock_fft_stream *stream, const float *window);

/* Another max_latency_s, for vectors that wait too. */
PENSTOCK_API int penstock_fft_stream_set_max_latency(penstock_fft_stream *stream, double max_latency_s);

/* No more vectors come: all become ready. Pushing again needs a reset. */
PENSTOCK_API int penstock_fft_stream_finish(penstock_fft_stream *stream);
PENSTOCK_API int penstock_fft_stream_get_counters(const penstock_fft_stream *stream,
                                                  penstock_fft_stream_counters *counters);
/* Items are vectors. */
PENSTOCK_API int penstock_fft_stream_get_stats(const penstock_fft_stream *stream, penstock_stream_stats *stats);

/* Back to the state after penstock_fft_stream_new(), but with the window and the latency that were set last. */
PENSTOCK_API int penstock_fft_stream_reset(penstock_fft_stream *stream);
PENSTOCK_API void penstock_fft_stream_free(penstock_fft_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
