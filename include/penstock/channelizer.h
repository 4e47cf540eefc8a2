/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Polyphase filter bank: a stream of samples to M streams, one a channel, and back.
 *
 * With samples x[0], x[1], ... (zero before the first), M channels at the frequencies k / M (turns per sample, k = 0
 * .. M - 1), a prototype h[0] .. h[L-1], hop R, advance a and origin o, frame m holds
 *
 *     y[m][k] = sum over l of h[l] x[p - l] exp(-2 pi i k (p - l + o) / M),   p = m R + a
 *
 * for all channels k: each is mixed to zero, filtered by h, and one of R values is kept. R = M is critical sampling; a
 * smaller hop gives each channel M / R times the rate that it needs, and its edges without aliasing. After T samples
 * and penstock_stream_finish() exactly ceil(T / R) frames have come; with `tail` all those for which p < T + L -
 * 1, so that nothing of the response is cut off.
 *
 * Any split of the stream into pushes and pulls gives the same bits. A NaN or infinity spoils the frames whose L
 * samples contain it, no more.
 *
 * M. Bellanger, G. Bonnerot and M. Coudreuse, "Digital filtering by polyphase network", IEEE Trans. ASSP 24(2), 1976;
 * R. Crochiere and L. Rabiner, "Multirate digital signal processing", 1983, section 7.2.
 */
#ifndef PENSTOCK_CHANNELIZER_H
#define PENSTOCK_CHANNELIZER_H

#include <penstock/context.h>
#include <penstock/samples.h>
#include <penstock/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- analysis -------------------- */

typedef struct penstock_channelizer_desc {
    size_t size;
    size_t channels;      /* M, 2 .. 65536 */
    size_t hop;           /* R, 1 .. M; 0: M */
    const float *taps;    /* the prototype; NULL: that of penstock_channelizer_taps() */
    size_t tap_count;     /* 1 .. 2^22; 0 without taps: penstock_channelizer_taps_length() */
    const size_t *select; /* the channels that a frame holds, in this order, each < M and once; NULL: all */
    size_t select_count;
    penstock_format format; /* of the samples pushed. PENSTOCK_PLANAR: each push has its own I part and Q part */
    size_t advance;         /* a, 0 .. tap_count - 1 */
    bool tail;
    double max_latency_s; /* on a device with batches, the oldest waiting frame is sent by the first push or pull after
                             this time, and given by the first pull; 0: only full batches and the end */
    size_t origin;        /* o, 0 .. M-1: the oscillators have phase zero at sample -o. A synthesis bank, and other
                             banks of the library, have 0 */
} penstock_channelizer_desc;

#define PENSTOCK_CHANNELIZER_DESC(...) PENSTOCK_DESCRIPTION(penstock_channelizer_desc, __VA_ARGS__)

/* Items in are samples, items out frames, pulled whole or by channel (stream.h). OpenCL and CUDA sum the polyphase
 * branches and transform in one kernel; other devices transform what the CPU's threads have summed. */
PENSTOCK_API int penstock_channelizer_open(penstock_stream **stream, penstock_context *context,
                                           const penstock_channelizer_desc *desc, const char *device);

typedef struct penstock_channelizer_info {
    size_t size;
    const char *device; /* name of the device that transforms; lives as long as the channelizer */
    size_t kept;        /* values of a frame: M, or select_count */
    size_t hop;         /* R */
    size_t tap_count;   /* L */
    size_t batch;       /* frames that wait for each other on their way; 1: each can be pulled at once */
    size_t latency;     /* samples after p, at most, that must be pushed before a frame can be pulled */
    double delay;       /* of symmetric taps, in samples: (L - 1) / 2 - a */
    uint64_t samples;   /* pushed so far */
    uint64_t frames;    /* pulled so far */
    uint64_t fallbacks; /* batches that the CPU did because the device failed */
} penstock_channelizer_info;

#define PENSTOCK_CHANNELIZER_INFO PENSTOCK_DESCRIPTION(penstock_channelizer_info, )

PENSTOCK_API int penstock_channelizer_get_info(const penstock_stream *stream, penstock_channelizer_info *info);

/*
 * Another prototype, of any length above `advance` (NULL: as in the description), from a frame on whose p is `*from`
 * (may be NULL): the first one with p >= `at`, or a later one, not before what was pushed already, nor before an
 * earlier change, and, where there are more taps than before, not before as many samples are there. The frames before
 * are made by the old taps alone, the others by the new ones alone, with no jump of the oscillators. No frame is lost.
 */
PENSTOCK_API int penstock_channelizer_set_taps(penstock_stream *stream, const float *taps, size_t tap_count,
                                               uint64_t at, uint64_t *from);

/* Other channels, from the next frame that is pulled on; as `select` in the description. */
PENSTOCK_API int penstock_channelizer_set_select(penstock_stream *stream, const size_t *select, size_t select_count);

/* ---------------------------------------------------------------- prototypes ------------------ */

/* Taps of the prototype that is designed where none is given; 0 where `channels` and `hop` (0: channels) are not in
 * their ranges. */
PENSTOCK_API size_t penstock_channelizer_taps_length(size_t channels, size_t hop);

/*
 * A symmetric prototype of `count` taps with gain one at zero frequency.
 *
 * hop = channels (or 0): a low-pass filter whose gain is one half at 1 / (2 M), with Kaiser's window for 80 dB, as by
 * penstock_taps_design().
 *
 * hop < channels: a root-Nyquist filter: the squares of the channels' responses sum to a constant, and the stop band
 * begins at 1 / (2 R) or 1 / M, whichever is less, so that no channel aliases. The response falls from one to zero as
 * cos(pi v / 2), where v is the integral of Kaiser's window over the transition. At the default length the stop band
 * lies below -90 dB, and penstock_channelizer_dual() finds an inverse that is true to better than 100 dB.
 */
PENSTOCK_API int penstock_channelizer_taps(float *taps, size_t count, size_t channels, size_t hop);

/*
 * The prototype of a synthesis bank that undoes the analysis by `taps`, of `dual_count` taps: analysis and synthesis
 * together delay by `delay` samples, 0 .. tap_count + dual_count - 2; natural are as many taps and a delay of tap_count
 * - 1. `*error_db` (may be NULL) is the error of what comes back from white noise, -100 being very good, 0 useless.
 *
 * The time-reversed prototype itself where that is good to -100 dB; else the solution nearest to it of
 *
 *     M times the sum over m of dual[q - m R] taps[delay - q + m R - i M] = (i = 0),   for all i and 0 <= q < R,
 *
 * exact or in the least squares. With hop < channels there is an exact one if it may be long enough, with hop =
 * channels only for prototypes none of whose polyphase branches has a zero on the unit circle, such as a window of M
 * taps. The further a solution is from the prototype the less it keeps channels apart.
 * H. Bolcskei, F. Hlawatsch and H. Feichtinger, "Frame-theoretic analysis of oversampled filter banks", IEEE Trans.
 * Signal Processing 46(12), 1998.
 */
PENSTOCK_API int penstock_channelizer_dual(float *dual, size_t dual_count, const float *taps, size_t tap_count,
                                           size_t channels, size_t hop, size_t delay, double *error_db);

/* ---------------------------------------------------------------- synthesis ------------------- */

/*
 * The way back: from frames y[m][0 .. M-1], a prototype g[0] .. g[L-1], a delay d and an origin o come the samples
 *
 *     s[n] = sum over m of g[q - m R] sum over k of y[m][k] exp(2 pi i k (n + o) / M),   q = n + d
 *
 * for n >= 0. With o = 0, g the dual of the analysis prototype for a delay of both together of D samples, and d = D
 * less the advance a of the analysis, sample n is sample n of what was analysed, for n > a - R + L - 1 - D: with an
 * advance of R or more those before it lack a part that frames ahead of the first one would have (0 .. a - R for the
 * usual D = L - 1). After F frames and penstock_stream_finish() those samples have come that no further frame would
 * change, F R - d of them if that is positive; with `tail` all on which the frames have an influence, (F - 1) R + L -
 * d where L > R. An analysis with `tail` gives frames enough for all its samples, and some that are zero.
 */
typedef struct penstock_synthesizer_desc {
    size_t size;
    size_t channels;      /* M, 2 .. 65536 */
    size_t hop;           /* R, 1 .. M; 0: M. (M + R) L / R is at most 2^27 */
    const float *taps;    /* g; NULL: the dual of the prototype that an analysis without taps has; not for hop = M */
    size_t tap_count;     /* 1 .. 2^22; 0 without taps: penstock_channelizer_taps_length() */
    size_t delay;         /* D; without taps it is tap_count - 1, whatever is said here */
    size_t advance;       /* of the analysis, 0 .. D */
    const size_t *select; /* the channels that a frame holds, in this order, the others being zero; NULL: all */
    size_t select_count;
    bool tail;
    double max_latency_s; /* the oldest waiting frame is sent by the first push or pull after this time, and given by
                             the first pull; 0: only full batches and the end */
    size_t origin;        /* o, 0 .. M-1: the oscillators have phase zero at sample -o */
} penstock_synthesizer_desc;

#define PENSTOCK_SYNTHESIZER_DESC(...) PENSTOCK_DESCRIPTION(penstock_synthesizer_desc, __VA_ARGS__)

/* Items in are frames, pushed whole or by channel, items out samples (stream.h). */
PENSTOCK_API int penstock_synthesizer_open(penstock_stream **stream, penstock_context *context,
                                           const penstock_synthesizer_desc *desc, const char *device);

typedef struct penstock_synthesizer_info {
    size_t size;
    const char *device; /* name of the device that transforms; lives as long as the synthesizer */
    size_t kept;        /* values of a frame: M, or select_count */
    size_t hop;         /* R */
    size_t tap_count;   /* L */
    size_t delay;       /* d: samples of the stream's beginning that are left out */
    size_t batch;       /* frames that wait for each other on their way */
    uint64_t frames;    /* pushed so far */
    uint64_t samples;   /* pulled so far */
    uint64_t fallbacks; /* batches that the CPU did because the device failed */
} penstock_synthesizer_info;

#define PENSTOCK_SYNTHESIZER_INFO PENSTOCK_DESCRIPTION(penstock_synthesizer_info, )

/* `info` made with PENSTOCK_SYNTHESIZER_INFO. PENSTOCK_ERR_ARGUMENT for a stream of another kind. */
PENSTOCK_API int penstock_synthesizer_get_info(const penstock_stream *stream, penstock_synthesizer_info *info);

/*
 * Another prototype g, of 1 .. 2^22 taps, for the samples of hop `*from` (may be NULL) and of those after it, q >= from
 * R above: the first hop that is `at` or later, not one of a frame that was pushed already, nor before that of an
 * earlier change, and, where more frames than ever before are summed, one for which they are still there. The samples
 * before are made by the old taps alone, the others by the new ones alone, of the same frames; the delay stays. What is
 * to hold after the last frame does not hold. PENSTOCK_ERR_STATE after penstock_stream_finish().
 */
PENSTOCK_API int penstock_synthesizer_set_taps(penstock_stream *stream, const float *taps, size_t tap_count,
                                               uint64_t at, uint64_t *from);

/* Other channels, as many as a frame holds, for the frames that are pushed from now on; as `select` in the description.
 * What was acquired is to be acquired anew. */
PENSTOCK_API int penstock_synthesizer_set_select(penstock_stream *stream, const size_t *select, size_t select_count);

#ifdef __cplusplus
}
#endif

#endif
