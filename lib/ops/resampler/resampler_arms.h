/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A resampler's taps, as the sums read them: an arm for each part of a sample, in the order of the samples. */
#ifndef PENSTOCK_OPS_RESAMPLER_ARMS_H
#define PENSTOCK_OPS_RESAMPLER_ARMS_H

#include "ops/resampler/resampler_kernels.h"
#include "ops/resampler/resampler_time.h"

/*
 * The low-pass that the library makes, at samples of the lower rate: half of it, RESAMPLER_FINE values a sample, from
 * the middle on. Read-only once it is made.
 */
#define RESAMPLER_FINE 256
struct resampler_prototype {
    double *values;
    size_t count;
    double reach;     /* samples of the lower rate on each side */
    double arms_each; /* arms for a sample of the lower rate, between which a straight line is good enough */
};

/* Its widest ratio is 1 : 2^10, and an output's taps are at most 2^20. */
int penstock__resampler_prototype_init(struct resampler_prototype *prototype, double attenuation_db, double passband,
                                       double transition);
void penstock__resampler_prototype_free(struct resampler_prototype *prototype);

/* How an output is made from samples. Shared by those who have a reference. */
struct resampler_arms {
    unsigned references;
    size_t taps;   /* of an arm, filled up to whole steps of the sums */
    size_t before; /* samples of them before the one at or before the output's time */
    size_t count;  /* arms to a sample; the first one a sample later follows, and zeros for what rounding makes of it */
    bool complex;  /* two tables, the real parts' and the imaginary parts', else one */
    struct resampler_table tables[2];
};

/* Arms to a sample that straight lines between them need, where the rate does not fall. */
size_t penstock__resampler_enough(const struct resampler_prototype *prototype);

/* What arms of the prototype have for a ratio: `before` of them. */
size_t penstock__resampler_before(const struct resampler_prototype *prototype, double ratio, bool real_samples);

/* Arms by the prototype: as many as the ratio's outputs stand at, or, `between` or if those are many, fewer. */
int penstock__resampler_arms_make(struct resampler_arms **arms, const struct resampler_prototype *prototype,
                                  struct resampler_ratio ratio, bool between, bool real_samples);

/* The caller's taps; one of the two is NULL. */
int penstock__resampler_arms_take(struct resampler_arms **arms, const float *real_taps, const penstock_cf32 *taps,
                                  size_t tap_count, size_t count, bool real_samples);

/* Whether they are these. */
bool penstock__resampler_arms_same(const struct resampler_arms *a, const struct resampler_arms *b);

/* Another reference, and one less. */
struct resampler_arms *penstock__resampler_arms_keep(struct resampler_arms *arms);
void penstock__resampler_arms_leave(struct resampler_arms *arms);

#endif
