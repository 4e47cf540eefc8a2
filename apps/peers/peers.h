/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Other libraries that bench compares with; each in the way that its documentation recommends for speed. */
#ifndef PENSTOCK_APPS_PEERS_H
#define PENSTOCK_APPS_PEERS_H

#include <penstock/penstock.h>

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
};

extern const struct peer peer_fftw, peer_liquid;

#endif
