/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM symbols of a stream: the caller says at which samples frames start, pushes the samples, and pulls the frames'
 * data carriers and soft bits. Or, without frames, one symbol follows another from the first sample on.
 *
 * A frame starts with `training_symbols` symbols (guard interval and n samples each), of which the last one is the
 * `training`: its received bins, divided by what was sent, are the channel. The data symbols follow, and are divided by
 * it. Without training the channel is one. Any split into pushes gives the same bits.
 */
#ifndef PENSTOCK_OFDM_STREAM_H
#define PENSTOCK_OFDM_STREAM_H

#include <penstock/ofdm.h>
#include <penstock/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_ofdm_stream_desc {
    size_t size;
    size_t n;                /* FFT length, 2 .. 8192 */
    size_t guard;            /* guard interval before each symbol's n samples */
    const int32_t *carriers; /* data carriers in the order of the output, each -n/2 .. (n-1)/2 and given once */
    size_t carrier_count;
    const int32_t *pilots;             /* pilot carriers */
    size_t pilot_count;                /* 0: no pilots */
    const penstock_cf32 *pilot_values; /* pilot_rows rows of pilot_count values: symbol i of a frame has row
                                          i % pilot_rows */
    size_t pilot_rows;
    bool track;                    /* take each symbol's phase and slope, from its pilots, out */
    const penstock_cf32 *training; /* n values by bin (0 .. n-1), not 0 on carriers and pilots; NULL: no training */
    size_t training_symbols;       /* with training 1 or more */
    penstock_constellation constellation; /* of the soft bits; 0: QPSK */
    bool continuous; /* no frames and no training: symbols follow each other from the first sample on */
    bool soft; /* continuous, and of each symbol its soft bits alone, which are pulled, linked and enqueued as other
                  streams' results (stream.h): an item is carrier_count times the constellation's bits */
    penstock_format format; /* of the samples, with `soft`: PENSTOCK_CF32, _CS16, _CS8 or _CU8; else PENSTOCK_CF32 */
} penstock_ofdm_stream_desc;

#define PENSTOCK_OFDM_STREAM_DESC(...) PENSTOCK_DESCRIPTION(penstock_ofdm_stream_desc, __VA_ARGS__)

/* Items in are samples (penstock_cf32), of which a push takes all and drops what belongs to no frame (stream.h). Items
 * out are symbols, given by penstock_ofdm_stream_pull(). With `soft` it is a stream of a kind of its own, for which the
 * other calls of this header are errors. */
PENSTOCK_API int penstock_ofdm_stream_open(penstock_stream **stream, penstock_context *context,
                                           const penstock_ofdm_stream_desc *desc, const char *device);

/*
 * A frame of `symbols` data symbols, 1 .. 65536, starts at sample `sample`, where its first guard interval does: to be
 * said before that sample is pushed, in the order of the starts. `cfo`: carrier offset in turns per sample, -0.5 ..
 * 0.5, that is taken out, with phase zero at `sample`. Frames may overlap.
 */
PENSTOCK_API int penstock_ofdm_stream_frame(penstock_stream *stream, uint64_t sample, size_t symbols, double cfo);

/* Pointers live until the next pull, reset or free. */
typedef struct penstock_ofdm_stream_result {
    size_t size;
    uint64_t sample;              /* where the frame, or the first of these symbols, starts */
    size_t symbols;               /* all data symbols of the frame; continuous: as many as there are */
    const penstock_cf32 *points;  /* carrier_count a symbol, equalised */
    const int8_t *soft;           /* carrier_count times the constellation's bits a symbol; positive: 0 is likelier. A
                                     bit of a carrier at the mean power, at the least distance, is 24. */
    const penstock_cf32 *channel; /* n values by bin, 0 on unused ones */
} penstock_ofdm_stream_result;

#define PENSTOCK_OFDM_STREAM_RESULT PENSTOCK_DESCRIPTION(penstock_ofdm_stream_result, )

/* The next frame whose samples are all there, in the order of the starts: 1 with `result` filled, 0 when none is ready,
 * or an error, after which the next pull tries again. All that are there go through the device in one batch; a GPU that
 * does all in one kernel gets about 4 MiB of samples at a time, as soon as they are pushed, and has several such
 * batches on their way: a caller that does not pull until 0 after each push keeps it busy. */
PENSTOCK_API int penstock_ofdm_stream_pull(penstock_stream *stream, penstock_ofdm_stream_result *result);

typedef struct penstock_ofdm_stream_counters {
    size_t size;
    uint64_t samples;   /* pushed */
    uint64_t frames;    /* pulled; continuous: pulls that gave some */
    uint64_t symbols;   /* pulled */
    uint64_t waiting;   /* frames that were announced and not pulled */
    uint64_t fallbacks; /* batches that the CPU did because the device failed */
} penstock_ofdm_stream_counters;

#define PENSTOCK_OFDM_STREAM_COUNTERS PENSTOCK_DESCRIPTION(penstock_ofdm_stream_counters, )

PENSTOCK_API int penstock_ofdm_stream_get_counters(const penstock_stream *stream,
                                                   penstock_ofdm_stream_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
