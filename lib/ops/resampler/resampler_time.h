/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A resampler's ratios and times in whole numbers. A time is a number of samples and a part of one in units of 1 /
 * `unit`, so that the step from one output to the next is whole, too.
 */
#ifndef PENSTOCK_OPS_RESAMPLER_TIME_H
#define PENSTOCK_OPS_RESAMPLER_TIME_H

#include <stddef.h>
#include <stdint.h>

/* Times of 2^53 units and less are exact as double, and 1024 steps of so many fit in 64 bits. */
#define RESAMPLER_UNITS ((uint64_t)1 << 53)
#define RESAMPLER_STEPS ((size_t)1024)

/* up / down, without common factors. */
struct resampler_ratio {
    uint64_t up, down;
};

struct resampler_clock {
    uint64_t unit;        /* 1 .. RESAMPLER_UNITS: parts of a sample */
    uint64_t whole, part; /* the step; part < unit */
};

/* The first convergent of the continued fraction of `ratio`, 2^-10 .. 2^10, that is it when rounded to double. A
 * quotient of numbers below 2^26 is among the convergents, as it is nearer than half of one over its denominator's
 * square, and none before it rounds to the same. */
struct resampler_ratio penstock__resampler_ratio(double ratio);

/* Without common factors. */
struct resampler_ratio penstock__resampler_reduced(uint64_t up, uint64_t down);

/* Steps of down / up samples in units of 1 / up, or, `fine`, in the smallest multiple of those. */
struct resampler_clock penstock__resampler_clock(struct resampler_ratio ratio, int fine);

/* n up / down, rounded up; to the nearest. */
uint64_t penstock__resampler_scaled(struct resampler_ratio ratio, uint64_t n);
uint64_t penstock__resampler_nearest(struct resampler_ratio ratio, uint64_t n);

/* `steps` <= RESAMPLER_STEPS steps on from `*part`: whole samples passed. */
static inline uint64_t penstock__resampler_advance(const struct resampler_clock *clock, uint64_t *part, size_t steps)
{
    uint64_t sum = *part + steps * clock->part, carry = sum / clock->unit;
    *part = sum % clock->unit;
    return steps * clock->whole + carry;
}

#endif
