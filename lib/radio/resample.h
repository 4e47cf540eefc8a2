/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Resampling by any factor from 1/256 to 256. Output sample k stands at input time k from/to exactly: the filter has
 * no delay, and n input samples give ceil(n to/from). Passes 0 .. 0.42 of the lower of the two rates, and takes 80 dB
 * off what lies above its half.
 */
#ifndef PENSTOCK_RADIO_RESAMPLE_H
#define PENSTOCK_RADIO_RESAMPLE_H

#include <penstock/penstock.h>

struct penstock__resampler;

/* Rates in samples per second. */
int penstock__resampler_new(struct penstock__resampler **resampler, double from_hz, double to_hz);

/* Takes `*taken` of `in_count` samples and writes `*count` <= capacity; with nothing written all were taken. Any split
 * into calls gives the same bits. */
void penstock__resampler_run(struct penstock__resampler *resampler, const penstock_cf32 *in, size_t in_count,
                             size_t *taken, penstock_cf32 *out, size_t capacity, size_t *count);

/* No more input comes: further runs, without input, give the tail until `done`. */
void penstock__resampler_finish(struct penstock__resampler *resampler);
bool penstock__resampler_done(const struct penstock__resampler *resampler);

/* Samples that n input samples give. */
uint64_t penstock__resampler_count(const struct penstock__resampler *resampler, uint64_t n);

/* Likewise to the nearest whole number: what a gap of n samples is. */
uint64_t penstock__resampler_span(const struct penstock__resampler *resampler, uint64_t n);
void penstock__resampler_free(struct penstock__resampler *resampler);

#endif
