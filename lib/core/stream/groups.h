/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How a stream's samples make groups, each the frames of one result: a plan's `average`. */
#ifndef PENSTOCK_CORE_GROUPS_H
#define PENSTOCK_CORE_GROUPS_H

#include "core/plan/problem.h"

struct penstock__groups {
    size_t sample_bytes, result_bytes;
    size_t frames;     /* of a group */
    size_t step, span; /* samples from one group to the next, and of one */
    size_t frame;      /* samples of a frame */
};

/* Whether it is of blocks that are decoded, each a frame as it is. */
static inline bool penstock__groups_are_blocks(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_VITERBI || problem->kind == PENSTOCK_PROBLEM_LDPC;
}

/* A block to be decoded is one sample. */
static inline struct penstock__groups penstock__groups_of(const struct penstock_problem *problem)
{
    const bool blocks = penstock__groups_are_blocks(problem);
    const size_t frames = penstock__problem_average(problem), spacing = blocks ? 1 : problem->fft.spacing;
    const size_t frame = blocks ? 1 : penstock__fft_frame(&problem->fft);
    return (struct penstock__groups){.sample_bytes =
                                         blocks ? problem->in_bytes : penstock_format_bytes(problem->fft.format),
                                     .result_bytes = problem->out_bytes,
                                     .frames = frames,
                                     .step = frames * spacing,
                                     .span = (frames - 1) * spacing + frame,
                                     .frame = frame};
}

/* Samples that `count` >= 1 groups span. */
static inline size_t penstock__groups_samples(const struct penstock__groups *groups, size_t count)
{
    return (count - 1) * groups->step + groups->span;
}

/* Groups that are complete with so many samples. */
static inline size_t penstock__groups_complete(const struct penstock__groups *groups, size_t samples)
{
    return samples < groups->span ? 0 : (samples - groups->span) / groups->step + 1;
}

/* Groups of a batch of `frames`, or of fewer where these take more than `bytes`, results and all; one at the least. */
static inline size_t penstock__groups_fit(const struct penstock__groups *groups, size_t bytes, size_t frames)
{
    const size_t each = groups->step * groups->sample_bytes + groups->result_bytes;
    const size_t once = groups->frame * groups->sample_bytes, most = frames / groups->frames;
    const size_t room = bytes > once ? (bytes - once) / each : 0, count = room < most ? room : most;
    return count ? count : 1;
}

#endif
