/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a problem's output should be, in double precision, step by step as the public header says it. */
#ifndef PENSTOCK_CORE_EXPECTED_H
#define PENSTOCK_CORE_EXPECTED_H

#include "backends/backend.h"

static inline void penstock__rotate(double value[2], double re, double im)
{
    double turned = value[0] * re - value[1] * im;
    value[1] = value[0] * im + value[1] * re;
    value[0] = turned;
}

/* By 2^-32 turns. */
static inline void penstock__rotate_turns(double value[2], uint32_t turns)
{
    double re, im;
    penstock__unit_root(&re, &im, turns, (uint64_t)1 << 32);
    penstock__rotate(value, re, im);
}

/* Doubles of one output frame: two a value where the output is complex. */
size_t penstock__expected_count(const struct penstock_fft_problem *fft);

/*
 * Output of `frames` frames (a multiple of the problem's average) from the `samples` samples at `in`. `gather` has one
 * entry a frame, or is NULL; `turn` is the first frame's, where they are folded. Decibel output is given as power, so
 * that it can be compared where it is near zero.
 */
int penstock__expected(double *out, const struct penstock_fft_problem *fft, const void *in, size_t samples,
                       const struct penstock_gather *gather, size_t turn, size_t frames);

#endif
