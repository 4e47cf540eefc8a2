/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streaming resampler for any ratio of rates: push any number of samples, pull those of the other rate.
 *
 * With samples x[0], x[1], ... (zero before the first), the ratio r of output samples to input samples and a first
 * output at time a (`phase`), output k stands at the time t = a + k / r, in input samples, and is
 *
 *     y[k] = sum over n of x[n] g(t - n)
 *
 * where g is a low-pass for the lower of the two rates with a gain of one at zero frequency, and within 2 x 10^(-A /
 * 20) of one in the pass band, A being the attenuation. It adds no delay: a tone keeps its phase. After T samples and
 * penstock_stream_finish() exactly as many outputs have come as there are k with a + k / r < T; those for a = 0 are
 * ceil(T r).
 *
 * The ratio is a fraction of whole numbers and times are counted in whole numbers: no phase drifts, however long the
 * stream. Of a ratio given as a double it is the first convergent of its continued fraction that is this double when it
 * is rounded: the quotient of any two numbers below 2^26 is found (0.96 is 24 / 25, and 48000.0 / 44100.0 is 160 /
 * 147). Whole numbers can be given instead.
 *
 * Any split of the stream into pushes and pulls gives the same bits. A NaN or infinity spoils the outputs whose taps
 * cover it, no more.
 *
 * J. O. Smith and P. Gossett, "A flexible sampling-rate conversion method", Proc. IEEE ICASSP 1984; R. Crochiere and L.
 * Rabiner, "Multirate digital signal processing", 1983.
 */
#ifndef PENSTOCK_RESAMPLER_H
#define PENSTOCK_RESAMPLER_H

#include <penstock/context.h>
#include <penstock/samples.h>
#include <penstock/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_resampler_desc {
    size_t size;
    penstock_format format; /* of the samples pushed, not PENSTOCK_PLANAR. PENSTOCK_F32 without complex taps gives
                               float, all else penstock_cf32 */
    double ratio;           /* outputs per sample, 1/1024 .. 1024; 0: interpolation / decimation, */
    uint64_t interpolation, decimation; /* exactly, each 1 .. 2^31; 0: 1 */
    double attenuation_db;              /* of images and of what would alias, 20 .. 120; 0: 80 */
    double passband;   /* what is passed, in parts of the lower rate, 0 .. 0.5 (both excluded); 0: 0.4 */
    double transition; /* from there to where the attenuation holds, at least 0.002; 0: 1 - 2 passband, so that what
                          aliases lies beside the pass band */
    double phase;      /* a, 0 .. 1 (excluded), kept to 2^-50 */
    double min_ratio;  /* the lowest that penstock_resampler_set_ratio() may bring, which history is kept for; 0:
                          the ratio. Not for taps of the caller's */

    double max_latency_s; /* on other devices than the CPU: an output that is complete for so long goes without waiting
                             for its batch to be full; 0: when it is. penstock_stream_set_max_latency() changes it */

    /*
     * A prototype of the caller's instead of attenuation, passband and transition: exactly one of the two. Arm j are
     * the taps h[j], h[j + arms], ... An output at time t = n + f, n being whole, is made by the taps at f:
     *
     *     y = sum over i of h(f arms + i arms) x[n - i]
     *
     * on the straight line between h[j] and h[j + 1] where f arms is not whole. So they are causal, delay as they do,
     * and have the gain that the caller gives them. For L / M, with L arms, this is a rational resampler's definition.
     */
    const penstock_cf32 *taps;
    const float *real_taps;
    size_t tap_count; /* 1 .. 2^20, all finite */
    size_t arms;      /* 1 .. 2^16; 0: 32 */
    size_t max_taps;  /* the most that penstock_resampler_set_taps() may bring; 0: tap_count */
} penstock_resampler_desc;

#define PENSTOCK_RESAMPLER_DESC(...) PENSTOCK_DESCRIPTION(penstock_resampler_desc, __VA_ARGS__)

/*
 * Items in and out are samples (stream.h). "auto" is the CPU. There an output can be pulled once its taps' samples are
 * in. On other devices samples gather in batches, of memory that the stream lends, which are sent when they are full:
 * max_latency_s and penstock_stream_flush() bring what is complete before. PENSTOCK_ERR_UNSUPPORTED
 * by name, and the CPU with a log line for "prefer:", where a device does not resample.
 */
PENSTOCK_API int penstock_resampler_open(penstock_stream **stream, penstock_context *context,
                                         const penstock_resampler_desc *desc, const char *device);

typedef struct penstock_resampler_info {
    size_t size;
    uint64_t interpolation, decimation; /* of the ratio, without common factors */
    size_t taps;                        /* samples that an output is made from */
    size_t arms;                        /* sets of them within a sample; outputs between two are interpolated */
    bool exact;                         /* none lies between two */
    size_t latency;                     /* samples after the one before an output's time that must be pushed first */
    double next;                        /* time of the next output to be pulled, in samples, to a double's precision */
} penstock_resampler_info;

#define PENSTOCK_RESAMPLER_INFO PENSTOCK_DESCRIPTION(penstock_resampler_info, )

/* Of the ratio and taps that the next output is made with. */
PENSTOCK_API int penstock_resampler_get_info(const penstock_stream *stream, penstock_resampler_info *info);

/*
 * Another ratio from sample `at` on: the first output at or after it stands where it would have stood, and from there
 * each next one by the new ratio. `at` must not lie before what was pushed, nor before an earlier change. Taps that the
 * library made become those for the new ratio at that output, the caller's stay. The present ratio changes no bit. Not
 * below min_ratio.
 */
PENSTOCK_API int penstock_resampler_set_ratio(penstock_stream *stream, double ratio, uint64_t at);

/* Other taps of the caller's with as many arms, from the first output at or after sample `at` on, as above; for
 * streams that were opened with taps of that kind. The same taps change no bit. */
PENSTOCK_API int penstock_resampler_set_taps(penstock_stream *stream, const penstock_cf32 *taps, const float *real_taps,
                                             size_t tap_count, uint64_t at);

#ifdef __cplusplus
}
#endif

#endif
