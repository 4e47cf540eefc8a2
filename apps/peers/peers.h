/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Other libraries that bench compares with; each in the way that its documentation recommends for speed. */
#ifndef PENSTOCK_APPS_PEERS_H
#define PENSTOCK_APPS_PEERS_H

#include <penstock/penstock.h>

/* Work for a peer on a device with the samples there: the whole of what ours does, by the peer's transform and
 * separate kernels for the rest. */
enum device_work_kind {
    DEVICE_WORK_NONE,     /* something that no peer does */
    DEVICE_WORK_FFT,      /* cf32 to cf32, forward */
    DEVICE_WORK_SPECTRUM, /* cs16, times `window`, power, mean of `average` */
    DEVICE_WORK_OFDM,     /* cs16 to soft bits of 64-QAM, guard interval skipped */
    DEVICE_WORK_FILTER    /* cf32: n points every `spacing` samples, times `response`, back, the first n-spacing cut */
};

struct device_work {
    enum device_work_kind kind;
    const char *device; /* "cuda:0", "opencl:1" */
    const void *in;     /* `block_bytes` at hand, to be repeated until there are in_bytes */
    size_t block_bytes, in_bytes;
    size_t n, frames, average, spacing, skip; /* samples from frame to frame, and left out at a frame's start */
    const float *window;
    size_t carriers;               /* OFDM: of each half; -carriers .. -1 and 1 .. carriers in this order */
    const penstock_cf32 *response; /* n values: what a bin is multiplied by */
    float level;                   /* OFDM: of a soft bit at one step from a decision's border */
};

/* One of the kernels of such work: each takes what it reads and writes through memory once. */
struct device_part {
    const char *name;
    double bytes, seconds; /* read plus written; of one run */
};

enum { DEVICE_PARTS = 5 };

struct peer {
    const char *name;
    const char *reason; /* why this build lacks it; NULL: it is there */
    const char *(*version)(void);

    /* `batch` forward transforms of length n from `in` to `out`, one after the other by a plan for a single one, by
     * each of `threads` threads for its share. Planning may overwrite `out`, not `in`. NULL: not possible. */
    void *(*fft_new)(size_t n, size_t batch, unsigned threads, const void *in, void *out);
    int (*fft_run)(void *state); /* returns an exit code */
    void (*fft_free)(void *state);

    /* A stream of `samples` complex samples through a filter with real taps, of whose values one of `decimation` is
     * kept, by one thread. All three NULL: the library has none; NULL from the first: not possible. */
    void *(*filter_new)(float *taps, size_t tap_count, size_t decimation, const void *in, void *out, size_t samples);
    int (*filter_run)(void *state); /* returns an exit code */
    void (*filter_free)(void *state);

    /* On a device; all NULL: none. NULL from the first, having told why: not possible. *seconds is of one of `repeats`
     * runs, by the device's clock. Functions return exit codes. */
    void *(*device_new)(const struct device_work *work);
    int (*device_run)(void *state, unsigned repeats, double *seconds);
    int (*device_enqueue)(void *state); /* one run, without a wait; NULL: not known */
    int (*device_read)(void *state, void *out, size_t bytes);
    int (*device_parts)(void *state, struct device_part parts[DEVICE_PARTS], size_t *count); /* timed one by one */
    void (*device_free)(void *state);

    /* A stream of `samples` complex samples through a filter bank of `channels` times `depth` taps, one frame for `hop`
     * samples, by one thread. All three NULL: the library has none; NULL from the first: not possible. */
    void *(*channelizer_new)(float *taps, size_t depth, size_t channels, size_t hop, const void *in, void *out,
                             size_t samples);
    int (*channelizer_run)(void *state); /* returns an exit code */
    void (*channelizer_free)(void *state);

    /* A stream of `samples` complex samples to `ratio` times their rate, by one thread. All three NULL: the library has
     * none; NULL from the first: not possible. */
    void *(*resampler_new)(double ratio, double attenuation_db, const void *in, size_t samples);
    int (*resampler_run)(void *state); /* returns an exit code */
    void (*resampler_free)(void *state);
};

extern const struct peer peer_fftw, peer_liquid, peer_cufft, peer_clfft, peer_vkfft;

#endif
