/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Transforms of a stream of vectors, in the same order. They are gathered into batches as large as the device likes,
 * and several batches are on their way at a time.
 */
#ifndef PENSTOCK_FFT_STREAM_H
#define PENSTOCK_FFT_STREAM_H

#include <penstock/fft.h>
#include <penstock/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Items are vectors (stream.h). Errors as penstock_fft_plan(). */
PENSTOCK_API int penstock_fft_stream_open(penstock_stream **stream, penstock_context *context,
                                          const penstock_fft_stream_desc *desc, const char *device);

/* Other factors (n of them, NULL: all one) from the next vector pushed on; those before keep theirs, and none is lost.
 * Takes as long as penstock_fft_stream_open(). After an error the window is the one before. */
PENSTOCK_API int penstock_fft_stream_set_window(penstock_stream *stream, const float *window);

#ifdef __cplusplus
}
#endif

#endif
