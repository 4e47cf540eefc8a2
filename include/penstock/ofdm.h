/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM symbol demodulation: guard-interval skip, FFT, one-tap equaliser, common phase and slope, soft
 * bits, for many symbols of many frames in one batch. The grid is data: any FFT length, any carriers.
 */
#ifndef PENSTOCK_OFDM_H
#define PENSTOCK_OFDM_H

#include <penstock/buffer.h>
#include <penstock/context.h>
#include <penstock/plan.h>
#include <penstock/samples.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_ofdm penstock_ofdm;

/* Square Gray constellations of IEEE 802.11-2020 figures 17-10 and 27-39: the first half of a point's bits
 * chooses I, the second half Q, and 0...0 is the most negative level; mean power one. */
typedef enum penstock_constellation {
    PENSTOCK_BPSK = 1,
    PENSTOCK_QPSK = 2,
    PENSTOCK_QAM16 = 4,
    PENSTOCK_QAM64 = 6,
    PENSTOCK_QAM256 = 8,
    PENSTOCK_QAM1024 = 10
} penstock_constellation; /* the value is the number of bits a point */

typedef enum penstock_tracking {
    PENSTOCK_TRACK_PILOTS, /* each symbol's phase and slope from its own pilots (with one: the phase, with none:
                              neither); a pilot may be up to half a turn from their mean */
    PENSTOCK_TRACK_GIVEN   /* as the symbol says */
} penstock_tracking;

typedef struct penstock_ofdm_desc {
    size_t size;
    size_t n;                /* FFT length, 2 .. 8192 */
    size_t guard;            /* guard interval before each symbol's n samples */
    size_t window_offset;    /* the FFT window starts this many samples before the guard interval's end, <= guard;
                                the phase slope that this causes is taken out */
    penstock_format format;  /* of the samples */
    const int32_t *carriers; /* data carriers in the order of the output, each -n/2 .. n/2-1 and given once; of an odd
                                n -(n-1)/2 .. (n-1)/2 */
    size_t carrier_count;    /* 1 .. n */
    const int32_t *pilots;   /* pilot carriers */
    size_t pilot_count;      /* up to n; 0: no pilots */
    const penstock_cf32 *pilot_values; /* pilot_rows rows of pilot_count values */
    size_t pilot_rows;
    penstock_tracking tracking;
    penstock_constellation
        max_constellation; /* the largest that frames use: sets the pitch of the soft bits; 0: QAM64 */
    size_t batch;          /* symbols that one call usually brings; a hint */
} penstock_ofdm_desc;

#define PENSTOCK_OFDM_DESC(...) PENSTOCK_DESCRIPTION(penstock_ofdm_desc, __VA_ARGS__)

/* What the symbols of a frame share. */
typedef struct penstock_ofdm_frame {
    const penstock_cf32 *channel; /* n values by FFT bin (0 .. n-1): what a carrier was multiplied by, at the guard
                                     interval's end; the bins of carriers and pilots matter */
    float noise;                  /* variance of the noise on a bin of the unnormalised FFT, > 0 */
    float llr_scale;              /* soft bit = rint(llr_scale * LLR), limited to -127 .. 127; 0: 1 */
    double cfo;                   /* carrier offset in turns per sample, -0.5 .. 0.5, taken out before the FFT */
    uint64_t origin;              /* sample of the batch at which the offset's phase is zero */
    penstock_constellation constellation;
} penstock_ofdm_frame;

typedef struct penstock_ofdm_symbol {
    uint64_t start;     /* sample of the batch where the guard interval starts */
    uint32_t frame;     /* index into the batch's frames */
    uint32_t pilot_row; /* row of pilot_values */
    float phase;        /* PENSTOCK_TRACK_GIVEN: phase at carrier 0 to take out, radians */
    float slope;        /* likewise: radians per carrier */
} penstock_ofdm_symbol;

typedef struct penstock_ofdm_batch {
    size_t size;
    const void *samples; /* in the plan's format */
    size_t sample_count;
    const penstock_ofdm_frame *frames;
    size_t frame_count;
    const penstock_ofdm_symbol *symbols;
    size_t symbol_count;
} penstock_ofdm_batch;

#define PENSTOCK_OFDM_BATCH(...) PENSTOCK_DESCRIPTION(penstock_ofdm_batch, __VA_ARGS__)

/* Where the results go; each NULL if not wanted. Rows are symbols in the batch's order. */
typedef struct penstock_ofdm_result {
    size_t size;
    penstock_cf32 *points; /* carrier_count a symbol: equalised, so that a noiseless point lies on the constellation */
    int8_t *soft;          /* carrier_count * max_constellation a symbol, each carrier's bits from carrier index
                              * max_constellation on; positive: 0 is likelier. Exact max-log LLR, weighted by
                              |channel|^2 / noise. */
    penstock_cf32 *pilots; /* pilot_count a symbol: received, divided by channel and pilot value; no phase taken out */
    float *phase;          /* one a symbol: the phase at carrier 0 that was taken out, radians */
    float *slope;          /* one a symbol: radians per carrier, likewise */
} penstock_ofdm_result;

#define PENSTOCK_OFDM_RESULT(...) PENSTOCK_DESCRIPTION(penstock_ofdm_result, __VA_ARGS__)

PENSTOCK_API int penstock_ofdm_new(penstock_ofdm **ofdm, penstock_context *context, const penstock_ofdm_desc *desc,
                                   const char *device);

/* Name of the device that computes; lives as long as the object. It may change with each batch: penstock_plan_info has
 * what is waited for, where the context's `cpu_while_compiling` lets the CPU begin. */
PENSTOCK_API const char *penstock_ofdm_device(const penstock_ofdm *ofdm);

/* How soft bits alone are made: with `kernels` 1 and a `variant` that begins with "ofdm" one kernel of the device goes
 * from samples to soft bits, and the bytes are those of a symbol; else it is the transform's. Points, pilots, phase and
 * slope come from a kernel of their own there, made when they are first asked for. */
PENSTOCK_API int penstock_ofdm_get_info(const penstock_ofdm *ofdm, penstock_plan_info *info);

/* Symbols may overlap and come in any order; each gives the same bits whatever else is in the batch. Where a batch is
 * refused, or the device fails, what the results hold is undefined. */
PENSTOCK_API int penstock_ofdm_run(penstock_ofdm *ofdm, const penstock_ofdm_batch *batch,
                                   const penstock_ofdm_result *result);
PENSTOCK_API void penstock_ofdm_free(penstock_ofdm *ofdm);

/*
 * With the samples on the demodulator's device, as penstock_plan_enqueue(): soft bits of `symbols` symbols of one
 * frame. `in` begins with the first one's guard interval, and they follow one another; `out` gets carrier_count *
 * max_constellation bytes a symbol, those of penstock_ofdm_run() to within one. `frame` (its origin counted from the
 * start of `in`) is sent to the device, which is waited for; NULL: that of the call before on the same device, and
 * nothing is sent. PENSTOCK_ERR_UNSUPPORTED where pilots of more than one row are followed, for CF16 and planar
 * samples, where not all points have max_constellation, and where the device has no kernel that does it all, as
 * penstock_ofdm_get_info() tells: processors.
 */
PENSTOCK_API int penstock_ofdm_enqueue(penstock_ofdm *ofdm, const penstock_ofdm_frame *frame, const penstock_buffer *in,
                                       penstock_buffer *out, size_t symbols, penstock_queue *queue);

/* ---------------------------------------------------------------- channel estimation ---------- */

typedef struct penstock_ofdm_estimator penstock_ofdm_estimator;

typedef struct penstock_ofdm_estimator_desc {
    size_t size;
    size_t n;                      /* FFT length, 2 .. 8192 */
    const penstock_cf32 *training; /* what was sent: n values by bin (0 .. n-1), 0 on bins that are not used */
    size_t
        window_offset; /* samples from the training symbols' FFT window to the guard interval's end, < n; taken out */
    size_t taps;       /* length of the channel's response in samples, at most the used bins; 0: no smoothing */
    size_t lead;       /* how many of the taps come before the guard interval's end, < taps */
} penstock_ofdm_estimator_desc;

#define PENSTOCK_OFDM_ESTIMATOR_DESC(...) PENSTOCK_DESCRIPTION(penstock_ofdm_estimator_desc, __VA_ARGS__)

PENSTOCK_API int penstock_ofdm_estimator_new(penstock_ofdm_estimator **estimator,
                                             const penstock_ofdm_estimator_desc *desc);

/*
 * The channel as penstock_ofdm_frame wants it (n values by bin, 0 on bins not used), by least squares from `count`
 * received training symbols, each n values by bin. With taps, among the responses that are zero outside delays
 * -lead .. taps-lead-1: the noise on the estimate falls to taps / (used bins * count) of the noise on a bin.
 * `noise` (NULL if not wanted; needs count >= 2): variance of the noise on a bin, unbiased, from the differences.
 * O. Edfors et al., "OFDM channel estimation by singular value decomposition", IEEE Trans. Comm. 46(7), 1998.
 */
PENSTOCK_API int penstock_ofdm_estimator_run(penstock_ofdm_estimator *estimator, penstock_cf32 *channel, float *noise,
                                             const penstock_cf32 *const *symbols, size_t count);
PENSTOCK_API void penstock_ofdm_estimator_free(penstock_ofdm_estimator *estimator);

#ifdef __cplusplus
}
#endif

#endif
