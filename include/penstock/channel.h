/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What happens to a signal between transmitter and receiver, for test signals. */
#ifndef PENSTOCK_CHANNEL_H
#define PENSTOCK_CHANNEL_H

#include <penstock/samples.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_path {
    double delay_s; /* 0 .. 1e-4 */
    double gain_db; /* of the path's power beside that of the signal: up to 200; -INFINITY: no path */
    double phase;   /* radians, finite */
} penstock_path;

typedef struct penstock_channel_desc {
    size_t size;
    double rate_hz;             /* sample rate, above 0, up to 1e10 */
    const penstock_path *paths; /* NULL: one path */
    size_t path_count;          /* 1 .. 64; 0 where `paths` is NULL */
    double cfo_hz;              /* carrier offset, at most the rate either way */
    double sfo_ppm;             /* the receiver's clock is slower by this: |sfo_ppm| <= 1000 */
    double noise_power;  /* variance of the complex white Gaussian noise added to each sample, up to 1e30; 0: none */
    double dc_re, dc_im; /* added to each sample, finite */
    uint64_t seed;       /* of the noise */
} penstock_channel_desc;

#define PENSTOCK_CHANNEL_DESC(...) PENSTOCK_DESCRIPTION(penstock_channel_desc, __VA_ARGS__)

typedef struct penstock_channel penstock_channel;

PENSTOCK_API int penstock_channel_new(penstock_channel **channel, const penstock_channel_desc *desc);

/*
 * A stream: takes `in_count` samples and appends at most `out_capacity` to `out`; `*taken` and `*count` say how
 * many. With in NULL and in_count 0 the tail is flushed. Fractional delays and the clock offset are applied by
 * windowed-sinc interpolation.
 */
PENSTOCK_API int penstock_channel_run(penstock_channel *channel, const penstock_cf32 *in, size_t in_count,
                                      size_t *taken, penstock_cf32 *out, size_t out_capacity, size_t *count);
PENSTOCK_API int penstock_channel_reset(penstock_channel *channel);
PENSTOCK_API void penstock_channel_free(penstock_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
