/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streaming FIR filter by fast convolution (overlap-save): push any number of samples, pull the filtered ones.
 *
 * With samples x[0], x[1], ... (zero before the first), taps h[0] .. h[L-1], decimation D, shift s and advance a,
 *
 *     y[m] = sum over k of h[k] u[p - k],   u[j] = x[j] exp(2 pi i s j),   p = m D + a
 *
 * With interpolation I the filter runs at I times the rate, on the samples with I - 1 zeros between each two: positions
 * p, taps, advance and delay count samples of that rate, T below is T I, and u[j I] = x[j] exp(2 pi i s j).
 *
 * After T samples and penstock_stream_finish() exactly ceil(T / D) values have come; with `tail` all those for which
 * p < T + L - 1, so that nothing of the response is cut off. The filter adds no delay of its own to y: taps that are
 * symmetric about their middle delay the signal by (L - 1) / 2 samples, and an advance of (L - 1) / 2 takes that out.
 *
 * The stream is cut into blocks of fixed length, whatever the pushes: any split gives the same bits. A NaN or infinity
 * spoils the transforms that contain it, no more: those of its own block and of the L - 1 samples after it.
 */
#ifndef PENSTOCK_FILTER_H
#define PENSTOCK_FILTER_H

#include <penstock/buffer.h>
#include <penstock/context.h>
#include <penstock/samples.h>
#include <penstock/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of several channels that one forward transform serves; fields as in penstock_filter_desc. */
typedef struct penstock_filter_channel {
    const penstock_cf32 *taps;
    const float *real_taps;
    size_t tap_count;
    double shift, phase;
} penstock_filter_channel;

typedef struct penstock_filter_desc {
    size_t size;
    penstock_format format;    /* of the samples pushed. PENSTOCK_F32 with real taps, no shift and not `tunable` gives
                                  float, all else penstock_cf32. PENSTOCK_PLANAR: each push has its own I part and Q
                                  part */
    const penstock_cf32 *taps; /* tap_count complex taps, */
    const float *real_taps;    /* or as many real ones; one of the two is NULL */
    size_t tap_count;          /* 1 .. 2^20 */
    size_t max_taps;           /* the most that penstock_filter_set_taps() may bring; 0: tap_count */
    size_t decimation;         /* 1 .. 2^20; 0: 1 */
    double shift;              /* turns per sample, |shift| <= 0.5: -f moves what is at frequency f to zero */
    size_t advance;            /* 0 .. tap_count - 1 */
    bool tail;
    size_t n; /* transform length, at most 2^23; 0: the one that suits the device by a model of its cost, the same for
                 the same filter. From max_taps + 2 decimation on a transform takes all taps;
                 shorter ones, from 32 decimation on and without interpolation, take parts of them. The last bits of
                 the results depend on it. */
    size_t max_latency; /* in samples: a value can be pulled when at most so many samples after its own were pushed, as
                           far as blocks can be so short; 0: the library's choice */
    double phase;       /* of the shift at sample 0, in turns, finite: u[j] = x[j] exp(2 pi i (phase + s j)) */
    double max_latency_s; /* complete blocks can be pulled without waiting when the oldest has been complete for so
                             long; 0: only a full batch, and the end. An incomplete one waits for more samples, or
                             for penstock_stream_flush() */
    size_t interpolation; /* 1 .. 2^10, 0: 1; see above */
    const penstock_filter_channel *channels; /* instead of the taps, shift and phase above: */
    size_t channel_count;                    /* 0: one channel, from these; else 1 .. 2^16 channels with values each */
    bool tunable; /* penstock_filter_set_shift() may come. Any shift or phase above allows it, too */
} penstock_filter_desc;

#define PENSTOCK_FILTER_DESC(...) PENSTOCK_DESCRIPTION(penstock_filter_desc, __VA_ARGS__)

/* Items in are samples, items out values of one channel (stream.h). With several channels results are pulled by
 * channel. An error of the device loses nothing: the next call tries again. penstock_stream_flush() makes the values of
 * an incomplete block too; they agree with what would have come otherwise to the bound of the error, not to the bit,
 * and come once. */
PENSTOCK_API int penstock_filter_open(penstock_stream **stream, penstock_context *context,
                                      const penstock_filter_desc *desc, const char *device);

typedef struct penstock_filter_info {
    size_t size;
    const char *device; /* name of the device that transforms; lives as long as the filter */
    bool real;          /* values pulled are float */
    size_t value_bytes; /* of one value pulled: 4 or 8 */
    size_t n;           /* transform length */
    size_t block;       /* samples that one transform moves on by: a multiple of the decimation */
    size_t latency;     /* samples after a value's own (p), at most, that must be pushed before it can be pulled */
    double delay;       /* of symmetric taps, in samples: (tap_count - 1) / 2 - advance, for the taps last set (of
                           channel 0) */
    uint64_t samples;   /* pushed so far */
    uint64_t values;    /* pulled so far */
    double phase;       /* of the shift at the next sample to be pushed, 0 .. 1 turns: another filter can go on there */
    size_t channels;
    size_t before, reads; /* for penstock_filter_enqueue(): samples ahead of a block that it reads, and all of them */
} penstock_filter_info;

#define PENSTOCK_FILTER_INFO PENSTOCK_DESCRIPTION(penstock_filter_info, )

PENSTOCK_API int penstock_filter_get_info(const penstock_stream *stream, penstock_filter_info *info);

/*
 * With the samples on the filter's device, as penstock_plan_enqueue(): `blocks` blocks of channel 0, with the taps and
 * the shift last set, as if they had always held, beside the stream, which goes on as it was. Block b of a signal is
 * the samples from b `block` on (of penstock_filter_info), and gives its V = `block` interpolation / decimation values
 * from b V on, bit by bit those of the stream. `in` has `before` samples ahead of block `first` (zeros ahead of the
 * signal), and (blocks - 1) `block` + `reads` in all; `out` gets `blocks` V values, and lies apart.
 *
 * The first call after other taps or another shift were set sends what stands for them to the device, and waits. Other
 * calls of the stream, and such changes, are not to come while another thread is in this one, nor changes while work is
 * under way. PENSTOCK_ERR_UNSUPPORTED where the device has no kernel that does all of it: with interpolation above 16,
 * on processors, and for transforms of other lengths than powers of two from 16 to 8192.
 */
PENSTOCK_API int penstock_filter_enqueue(penstock_stream *filter, const penstock_buffer *in, penstock_buffer *out,
                                         uint64_t first, size_t blocks, penstock_queue *queue);

/*
 * Other taps from sample `at` on: values whose p >= `at` (with interpolation: `at` I) are made by the new taps alone,
 * the others by the old ones. `at` must not lie before what was pushed already, nor before an earlier change; the same
 * taps change no bit. Exactly one of `taps` and `real_taps`; complex ones not where values are real. 1 .. max_taps of
 * them.
 */
PENSTOCK_API int penstock_filter_set_taps(penstock_stream *stream, const penstock_cf32 *taps, const float *real_taps,
                                          size_t tap_count, uint64_t at);

/* Of one channel, 0 .. channels - 1; the above is of channel 0. */
PENSTOCK_API int penstock_filter_set_channel_taps(penstock_stream *stream, size_t channel, const penstock_cf32 *taps,
                                                  const float *real_taps, size_t tap_count, uint64_t at);

/*
 * Another shift (turns per sample, |shift| <= 0.5) of a channel from sample `at` on: values whose p >= `at` (with
 * interpolation: `at` I) are those of the new shift, as if it had always held, the others those of the old one. Its
 * phase at sample `at` is that of the old one there plus `jump` turns; 0: it goes on without a jump. `at` as for
 * penstock_filter_set_taps(); the same shift without a jump changes no bit. The taps are those last set; other taps
 * later leave shift and phase as they are. After penstock_stream_reset() the shift last set has the description's phase
 * at sample 0. PENSTOCK_ERR_STATE where the description has neither `tunable` nor a shift nor a phase.
 */
PENSTOCK_API int penstock_filter_set_shift(penstock_stream *stream, size_t channel, double shift, double jump,
                                           uint64_t at);

/* ---------------------------------------------------------------- whole signals --------------- */

/*
 * One call each, by the same building block, for signals of any length:
 *
 *     convolve     out[m] = sum over k of a[m - k] b[k]
 *     correlate    out[m] = sum over k of a[k + m - (b_count - 1)] conj(b[k]), the value at lag m - (b_count - 1)
 *
 * `out` lies apart from them and holds a_count + b_count - 1 values. What is not finite in the shorter signal is
 * refused. Relative L2 error: at most 2e-7 sqrt(log2 n), n the first power of two from the number of values on.
 */
PENSTOCK_API int penstock_convolve(penstock_context *context, penstock_cf32 *out, const penstock_cf32 *a,
                                   size_t a_count, const penstock_cf32 *b, size_t b_count, const char *device);
PENSTOCK_API int penstock_correlate(penstock_context *context, penstock_cf32 *out, const penstock_cf32 *a,
                                    size_t a_count, const penstock_cf32 *b, size_t b_count, const char *device);

/*
 * The chirp-z transform on the unit circle: out[k] = sum over j of in[j] exp(-2 pi i j (start + k step)), k < bins, for
 * any frequencies (turns per sample, -1 .. 1) and any lengths up to 2^20, `in` finite. Relative L2 error: at most
 * 4e-7 sqrt(log2 n), n the first power of two from bins + 2 count on.
 */
PENSTOCK_API int penstock_zoom(penstock_context *context, penstock_cf32 *out, size_t bins, const penstock_cf32 *in,
                               size_t count, double start, double step, const char *device);

/* ---------------------------------------------------------------- taps ------------------------ */

/* Frequencies here are in turns per sample, 0 .. 0.5. */
typedef enum penstock_band {
    PENSTOCK_LOW_PASS,  /* below `low` */
    PENSTOCK_HIGH_PASS, /* above `low` */
    PENSTOCK_BAND_PASS, /* between `low` and `high` */
    PENSTOCK_BAND_REJECT
} penstock_band;

/* Taps, an odd number, that a design with this width from pass to stop band and this attenuation takes; 0 where that
 * is impossible: transition in 0 .. 0.5, attenuation up to 200 dB, at most 2^20 taps. */
PENSTOCK_API size_t penstock_taps_length(double transition, double attenuation_db);

/*
 * Real symmetric taps by the window method, with Kaiser's window. The edges are where the gain is one half. The gain is
 * exactly one at zero frequency, PENSTOCK_HIGH_PASS: at 0.5, PENSTOCK_BAND_PASS: in the band's middle. `high` is read
 * where there are two edges; an even number of taps only where nothing is to pass at 0.5.
 */
PENSTOCK_API int penstock_taps_design(float *taps, size_t count, penstock_band band, double low, double high,
                                      double attenuation_db);

/*
 * The same with as many taps as it takes, at least 3: measured, and made longer until every gain beyond half a
 * `transition` (0 .. 0.5) off an edge is within 10^(-attenuation_db / 20) of one or of zero. `*count`: room for taps,
 * of which penstock_taps_length() for 16 dB more (200 at most) is always enough; then the taps made, an odd number, 0
 * after an error. PENSTOCK_ERR_UNSUPPORTED where taps of float cannot attenuate so much, from about 130 dB on. A design
 * of a million taps takes seconds.
 */
PENSTOCK_API int penstock_taps_measured(float *taps, size_t *count, penstock_band band, double low, double high,
                                        double transition, double attenuation_db);

/*
 * Symmetric taps whose largest error is the least that `count` of them, 3 .. 2047, can have (Parks and McClellan).
 * `edges`: two frequencies for PENSTOCK_LOW_PASS and _HIGH_PASS, else four: where the first band ends and the next
 * begins, and so on; between them the gain is free. The errors of all bands are level, but those of stop bands are
 * smaller by `stop_weight` (1: the same); `*ripple` (may be NULL) is that of the pass bands, rounding to float
 * included. PENSTOCK_ERR_UNSUPPORTED where the exchange does not settle, as for many more taps than float can tell from
 * perfect ones.
 */
PENSTOCK_API int penstock_taps_equiripple(float *taps, size_t count, penstock_band band, const double *edges,
                                          double stop_weight, double *ripple);

/* The root raised cosine with a gain of one at zero frequency: with itself, a pulse with zeros at the other symbols. */
PENSTOCK_API int penstock_taps_root_raised_cosine(float *taps, size_t count, double samples_per_symbol, double rolloff);

#ifdef __cplusplus
}
#endif

#endif
