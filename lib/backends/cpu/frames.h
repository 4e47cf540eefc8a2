/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of a batch of transforms, as one thread takes them; all in memory that is a thread's own but for what is
 * told. Powers of an output's frames are added up in pieces of POWER_TOGETHER frames, and these one after the other:
 * whoever makes a piece, the bits of the mean are the same. */
#ifndef PENSTOCK_CPU_FRAMES_H
#define PENSTOCK_CPU_FRAMES_H

#include "backends/cpu/cpu.h"

/* Samples that make a chunk: some 20 us of work, against the few that it takes to hand it to a thread; and the least,
 * where that makes threads' shares alike. */
#define CPU_CHUNK_SAMPLES 16384
#define CPU_LEAST_SAMPLES 4096

struct cpu_frames {
    const struct cpu_plan *plan;
    const char *in;
    char *out;
    const struct penstock_gather *gather;
    size_t samples; /* of the whole input */
    size_t first;   /* the frame whose samples are at `in` */
    size_t turn;    /* of frame 0, where they are folded */
    size_t sample_bytes, output_bytes;
    bool in_place;
};

/* The frames from `first` to before `end`, one after the other. */
void penstock__cpu_frames_run(const struct cpu_frames *frames, size_t first, size_t end, char *scratch);

/* `count` outputs from `first` on: all at once where nothing is done before and behind their transforms. */
void penstock__cpu_frames_outputs(const struct cpu_frames *frames, size_t first, size_t count, char *scratch);

/* Pieces of an output; the sums of one, as many bytes as the plan's are; and an output from those of all its pieces,
 * `step` bytes apart, which is destroyed. */
size_t penstock__cpu_pieces(const struct cpu_plan *plan);
void penstock__cpu_frames_piece(const struct cpu_frames *frames, size_t output, size_t piece, char *sums,
                                char *scratch);
void penstock__cpu_frames_mean(const struct cpu_frames *frames, size_t output, char *sums, size_t step, char *scratch);

/* All outputs of a batch by the context's threads, a piece at a time, where whole outputs would leave some without
 * work; *done: whether that is so. */
int penstock__cpu_pieces_run(const struct cpu_frames *frames, size_t outputs, struct cpu_slot *slot,
                             penstock_context *context, bool *done);

#endif
