/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sizes in host memory that follow from a problem. */
#ifndef PENSTOCK_CORE_PROBLEM_H
#define PENSTOCK_CORE_PROBLEM_H

#include "backends/backend.h"

/* PENSTOCK_OK, or an error that says what in the problem contradicts itself. */
int penstock__problem_check(const struct penstock_problem *problem);

/* Bytes of `samples` samples of input, and of what `frames` frames give. */
size_t penstock__problem_in_bytes(const struct penstock_problem *problem, size_t samples);
size_t penstock__problem_out_bytes(const struct penstock_problem *problem, size_t frames);

/* Of kind FFT: whether the bytes of so many frames can be counted. */
int penstock__problem_check_frames(const struct penstock_problem *problem, size_t frames);

/* The backend's rank for a problem, or an error; of rows and columns where a backend does not know them. */
int penstock__problem_rank(const struct penstock_device *device, const struct penstock_problem *problem);

/* The same for a device that is asked for: one that takes no penstock_fft_options must not be given any. */
int penstock__problem_supported(const struct penstock_device *device, const struct penstock_problem *problem);

#endif
