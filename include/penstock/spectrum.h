/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streaming windowed FFT: push any number of samples, pull vectors; or both in one call, which needs no batches on a
 * device that works in the host's memory.
 *
 * Of T samples pushed, transform j covers samples j * hop .. j * hop + n - 1, for all j for which they are there;
 * vector i is the mean of transforms i * average .. (i + 1) * average - 1, again where they all are there. With
 * flush_partial, samples that no transform has covered at the end get one more transform, filled with zeros, and
 * transforms that are too few for a vector get one more vector, their mean.
 */
#ifndef PENSTOCK_SPECTRUM_H
#define PENSTOCK_SPECTRUM_H

#include <penstock/fft.h>
#include <penstock/stream_stats.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_spectrum penstock_spectrum;

typedef struct penstock_spectrum_desc {
    size_t size;
    size_t n;               /* transform length, 1 .. 2^23 */
    size_t hop;             /* samples from one transform to the next, 1 .. 64 n; 0: n */
    penstock_format format; /* of the samples pushed; PENSTOCK_F32 gives n/2+1 bins. PENSTOCK_PLANAR: each push has its
                               own I part and Q part */
    const char *window;     /* a name as in penstock_window_fill(); NULL: "rectangular" */
    const float *taps;      /* or n factors, which win over the name */
    penstock_output output;
    bool centered;        /* zero frequency in the middle */
    float scale;          /* factor on the transform; 0: 1 */
    unsigned average;     /* transforms averaged (in power) into one vector; 0: 1 */
    bool flush_partial;   /* at the end fill up with zeros instead of leaving out what is not complete */
    double max_latency_s; /* the oldest waiting vector is sent by the first push or pull after this time, and given by
                             the first pull; 0: only full batches and the end */
} penstock_spectrum_desc;

#define PENSTOCK_SPECTRUM_DESC(...) PENSTOCK_DESCRIPTION(penstock_spectrum_desc, __VA_ARGS__)

/* Any split into pushes gives the same bits. */
PENSTOCK_API int penstock_spectrum_new(penstock_spectrum **spectrum, penstock_context *context,
                                       const penstock_spectrum_desc *desc, const char *device);

/* Values in one vector, and bytes of one value (4 or 8). */
PENSTOCK_API size_t penstock_spectrum_length(const penstock_spectrum *spectrum);
PENSTOCK_API size_t penstock_spectrum_value_bytes(const penstock_spectrum *spectrum);

/* Name of the device that computes; lives as long as the stream. */
PENSTOCK_API const char *penstock_spectrum_device(const penstock_spectrum *spectrum);

/* `*taken` < count when vectors wait to be pulled: pull, then push the rest (penstock.h: pushes). After a failure of
 * the device every call returns the failure until a reset, but pull first gives what was complete before. */
PENSTOCK_API int penstock_spectrum_push(penstock_spectrum *spectrum, const void *samples, size_t count, size_t *taken);

/* Up to `capacity` vectors that are ready; `wait`: first finish what has been sent to the device. Without it vectors
 * come later, by as many batches as are in flight. Pulling until none comes always makes room for a push. */
PENSTOCK_API int penstock_spectrum_pull(penstock_spectrum *spectrum, void *vectors, size_t capacity, bool wait,
                                        size_t *count);

/*
 * Push and pull in one: `*taken` of the `count` samples are taken, and `*given` <= capacity vectors come to `vectors`.
 * A device that works in the host's memory (cpu, reference) transforms straight from `samples` to `vectors` what these
 * calls bring together, with the same bits. Others push, then pull without waiting. Call again with the rest; nothing
 * comes while both are 0.
 */
PENSTOCK_API int penstock_spectrum_run(penstock_spectrum *spectrum, const void *samples, size_t count, size_t *taken,
                                       void *vectors, size_t capacity, size_t *given);

/*
 * For a caller that hands over samples before a vector is complete, and keeps those that are not taken, so that none
 * need be copied: does those transforms of the next vector, all but the last one, that lie within the `count` samples,
 * on the calling thread, and takes the `*taken` samples before the next transform. penstock_spectrum_run() then makes
 * the vector, with the same bits, out of what is done and the rest, and takes no sample while capacity is 0. `*wanted`:
 * how many of the samples that were not taken, with more behind them, complete one more transform; 0 where a device
 * does not work so, or penstock_spectrum_run() has taken samples of the next vector: then nothing was done, and it is
 * to have these, too. Until the vector is complete a push is an error, and another window holds from the vector after
 * it.
 */
PENSTOCK_API int penstock_spectrum_prepare(penstock_spectrum *spectrum, const void *samples, size_t count,
                                           size_t *taken, size_t *wanted);

/* Seconds until max_latency_s has passed for a vector that waits, 0 where a pull gives something at once; INFINITY
 * where nothing waits or there is no limit. */
PENSTOCK_API double penstock_spectrum_due_s(const penstock_spectrum *spectrum);

/* Vectors that are complete and were not given; without what flush_partial adds at the end. */
PENSTOCK_API uint64_t penstock_spectrum_waiting(const penstock_spectrum *spectrum);

/* The vector that a sample (counted from 0) belongs to, for marks in the stream: vector i is that of the average * hop
 * samples from i * average * hop on. */
PENSTOCK_API uint64_t penstock_spectrum_vector_of(const penstock_spectrum *spectrum, uint64_t sample);

/* Another window, by name or by n factors, which win; both NULL: all one. It holds from the first vector on whose
 * samples are not all there yet, and which was not begun by penstock_spectrum_prepare(); with flush_partial from the
 * first such transform on. Nothing is lost. Takes as long as penstock_spectrum_new(). PENSTOCK_ERR_STATE where vectors
 * of a planar push have to be pulled first. After an error the window is the one before. */
PENSTOCK_API int penstock_spectrum_set_window(penstock_spectrum *spectrum, const char *window, const float *taps);

/* Another max_latency_s, for vectors that wait too. */
PENSTOCK_API int penstock_spectrum_set_max_latency(penstock_spectrum *spectrum, double max_latency_s);

/* Items in are samples, items out are vectors. */
PENSTOCK_API int penstock_spectrum_get_stats(const penstock_spectrum *spectrum, penstock_stream_stats *stats);

/* No more samples come: everything complete becomes ready. Pushing again needs a reset. */
PENSTOCK_API int penstock_spectrum_finish(penstock_spectrum *spectrum);

/* Back to the state after penstock_spectrum_new(), but with the window and the latency that were set last. */
PENSTOCK_API int penstock_spectrum_reset(penstock_spectrum *spectrum);
PENSTOCK_API void penstock_spectrum_free(penstock_spectrum *spectrum);

#ifdef __cplusplus
}
#endif

#endif
