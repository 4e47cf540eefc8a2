/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Random samples of any format, and runs whose results are guarded, for the self-checks. */
#ifndef PENSTOCK_CORE_CHECK_SAMPLES_H
#define PENSTOCK_CORE_CHECK_SAMPLES_H

#include "core/plan/executor.h"

/* SplitMix64: S. Vigna. */
static inline uint64_t penstock__check_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform from -1 to 1. */
static inline double penstock__check_uniform(uint64_t *state)
{
    return (double)(penstock__check_random(state) >> 11) * 0x1p-52 - 1;
}

/* Part i of the samples, I and Q in turn, as the number that is in memory: of cs16 -32768 .. 32767. Not of PLANAR. */
void penstock__check_put(void *samples, penstock_format format, size_t i, double value);
double penstock__check_get(const void *samples, penstock_format format, size_t i);

/* How strong the samples of a transform's self-check are. */
struct penstock__check_level {
    double samples; /* a power of two, the factor on samples of full scale */
    double values;  /* what that makes of a sample by the largest factor of the window and the scale */
};

/* Such that neither the windowed samples nor the scaled values nor their squares leave the range of floats, as far as
 * the format lets them be chosen. */
struct penstock__check_level penstock__check_level(const struct penstock_fft_problem *fft);

/* How far a value lies from the one that is wanted, as far as a half, or a float, could have come nearer. NaN stays. */
double penstock__check_half_error(double value, double want);
double penstock__check_float_error(double value, double want);

/* Of a square constellation: bit `bit` of `bits` on one axis, the first being 0, at coordinate u with levels at odd
 * multiples of `level`: the max-log ratio by its definition, over 4 level. */
double penstock__check_soft_bit(double u, double level, unsigned bits, unsigned bit);

/* Behind a result are so many bytes of this value, which nothing may write to. */
#define PENSTOCK__GUARD_BYTES 64
#define PENSTOCK__GUARD       0xa5

/* Runs `batch`, whose result is of `bytes`, by way of slot 0, with these behind it; the result is of them too before.
 */
int penstock__check_run(struct penstock__executor *executor, const struct penstock__batch *batch, size_t bytes);

/* Whether those behind a result of `bytes` are as they were. */
bool penstock__check_guarded(const void *result, size_t bytes);

#endif
