/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sizes in host memory that follow from a problem. */
#ifndef PENSTOCK_CORE_PROBLEM_H
#define PENSTOCK_CORE_PROBLEM_H

#include "backends/backend.h"

/* PENSTOCK_OK, or an error that says what in the problem contradicts itself. */
int penstock__problem_check(const struct penstock_problem *problem);

/* Frames that make one output, and whether each frame has a place of its own in the input. */
unsigned penstock__problem_average(const struct penstock_problem *problem);
bool penstock__problem_gathered(const struct penstock_problem *problem);

/* Whether every frame has an output, which in place takes the room of the frame's own input and of nothing else. */
bool penstock__problem_frame_by_frame(const struct penstock_problem *problem);

/* Of kinds FFT, not gathered, and VITERBI and LDPC: samples that `frames` >= 1 frames span in the input. */
size_t penstock__problem_samples(const struct penstock_problem *problem, size_t frames);

/* Bytes of `samples` samples of input, and of what `frames` frames give. */
size_t penstock__problem_in_bytes(const struct penstock_problem *problem, size_t samples);
size_t penstock__problem_out_bytes(const struct penstock_problem *problem, size_t frames);

/* Of the same kinds: whether the bytes of so many frames can be counted. */
int penstock__problem_check_frames(const struct penstock_problem *problem, size_t frames);

/* The backend's rank for a problem, or an error; of rows and columns where a backend does not know them. */
int penstock__problem_rank(const struct penstock_device *device, const struct penstock_problem *problem);

/* The same for a device that is asked for: one that takes no penstock_fft_options must not be given any. */
int penstock__problem_supported(const struct penstock_device *device, const struct penstock_problem *problem);

#endif
