/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streaming windowed FFT: samples in, vectors out.
 *
 * Of T samples pushed, transform j covers samples j * hop .. j * hop + n - 1, for all j for which they are there;
 * vector i is the mean of transforms i * average .. (i + 1) * average - 1, again where they all are there. With
 * flush_partial, samples that no transform has covered at the end get one more transform, filled with zeros, and
 * transforms that are too few for a vector get one more vector, their mean.
 *
 * With `decay`, an exponentially decaying mean takes each vector's place: m = decay vector + (1 - decay) m in each bin,
 * of powers, in double precision, 0 before the first vector; decibels are those of m. Once a bin is infinite or not a
 * number it stays so, until decay is 1 or a reset.
 *
 * With `channels` an item is a frame of that many channels, one value of each, as a filter bank gives it
 * (channelizer.h), and so it is after the transforms: of value k of the vectors of all channels, those of channel 0,
 * 1, ... lie side by side. One plan does all: where samples are on a device already, a kernel or two.
 */
#ifndef PENSTOCK_SPECTRUM_H
#define PENSTOCK_SPECTRUM_H

#include <penstock/fft.h>
#include <penstock/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_spectrum_desc {
    size_t size;
    size_t n;               /* transform length, 1 .. 2^23 */
    size_t hop;             /* samples from one transform to the next, 1 .. 64 n; 0: n */
    penstock_format format; /* of the samples pushed; PENSTOCK_F32 gives n/2+1 bins or all. PENSTOCK_PLANAR: each push
                               has its own I part and Q part */
    const char *window;     /* a name as in penstock_window_fill(); NULL: "rectangular" */
    const float *taps;      /* or n factors, which win over the name */
    penstock_output output;
    bool centered;        /* zero frequency in the middle */
    float scale;          /* factor on the transform; 0: 1 */
    unsigned average;     /* transforms averaged (in power) into one vector; 0: 1 */
    bool flush_partial;   /* at the end fill up with zeros instead of leaving out what is not complete */
    double max_latency_s; /* the oldest waiting vector is sent by the first push or pull after this time, and given by
                             the first pull; 0: only full batches and the end */
    double decay;         /* the weight of a vector in the mean of it and those before, above 0 up to 1; 0: there is no
                             such mean. With power or decibel output */
    bool two_sided;       /* with PENSTOCK_F32: all n bins, those of negative frequencies too */
    size_t channels;      /* whose spectra are made, of items of so many values; n times as many are at most 2^23; 0: 1.
                             More than one: hop up to n, formats that are complex and lie together, no flush_partial,
                             and an average for which a batch of 2^20 samples of all channels is enough */
} penstock_spectrum_desc;

#define PENSTOCK_SPECTRUM_DESC(...) PENSTOCK_DESCRIPTION(penstock_spectrum_desc, __VA_ARGS__)

/* Items in are samples, items out vectors (stream.h); with `channels` frames, which are pushed whole or by channel, and
 * n frames of values. */
PENSTOCK_API int penstock_spectrum_open(penstock_stream **stream, penstock_context *context,
                                        const penstock_spectrum_desc *desc, const char *device);

/*
 * For a caller that hands over samples before a vector is complete, and keeps those that are not taken, so that none
 * need be copied: does those transforms of the next vector, all but the last one, that lie within the `count` samples,
 * on the calling thread, and takes the `*taken` samples before the next transform. penstock_stream_run() then makes
 * the vector, with the same bits, out of what is done and the rest, and takes no sample while capacity is 0. `*wanted`:
 * how many of the samples that were not taken, with more after them, complete one more transform; 0 where a device
 * does not work so, or penstock_stream_run() has taken samples of the next vector: then nothing was done, and it is
 * to have these, too. Until the vector is complete a push is an error, and another window holds from the vector after
 * it.
 */
PENSTOCK_API int penstock_spectrum_prepare(penstock_stream *stream, const void *samples, size_t count, size_t *taken,
                                           size_t *wanted);

/* Another window, by name or by n factors, which win; both NULL: all one. It holds from the first vector on whose
 * samples are not all there yet, and which was not begun by penstock_spectrum_prepare(); with flush_partial from the
 * first such transform on. Nothing is lost. Takes as long as penstock_spectrum_open(). PENSTOCK_ERR_STATE where vectors
 * of a planar push have to be pulled first. After an error the window is the one before. */
PENSTOCK_API int penstock_spectrum_set_window(penstock_stream *stream, const char *window, const float *taps);

/* Another `decay`, above 0 up to 1, from the next vector on that is pulled; at 1 each vector is given as it is, and the
 * mean goes on from it. PENSTOCK_ERR_STATE where the description has none: give it 1 there. Takes no time. */
PENSTOCK_API int penstock_spectrum_set_decay(penstock_stream *stream, double decay);

#ifdef __cplusplus
}
#endif

#endif
