/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a problem's output should be, in double precision, step by step as the public header says it. */
#ifndef PENSTOCK_CORE_EXPECTED_H
#define PENSTOCK_CORE_EXPECTED_H

#include "backends/backend.h"

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
