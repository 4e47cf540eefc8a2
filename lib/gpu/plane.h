/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames with rows or columns: up to four plans of the same backend, one after the other, with the device's memory
 * between them. Columns first, with the caller's load stage; rows last, with the store stage. Columns are transformed
 * side by side, or transposed, transformed as rows, and transposed back.
 *
 * Overlapped transforms likewise: a frame's rows and those before it, and their sums.
 */
#ifndef PENSTOCK_GPU_PLANE_H
#define PENSTOCK_GPU_PLANE_H

#include "gpu/decomposition.h"

#define GPU_MAX_PLANE_PARTS 4

struct gpu_plane_part {
    struct penstock_problem problem;
    struct penstock_plan_state state;
    size_t per_frame; /* of its frames in one of the whole's */
    size_t more;      /* frames before the first one of a job's */
    bool planned;
};

struct gpu_plane {
    unsigned count; /* of parts; 0: the plan is no plane */
    struct gpu_plane_part *parts;
};

/* Of a slot: what is between the parts; made when first needed. */
struct gpu_plane_memory {
    struct penstock_buffer buffer[2];
};

/* Whether a problem is done by parts. Columns that can be transformed side by side are no such problem. */
bool penstock__gpu_is_plane(const struct penstock_fft_problem *fft, const struct gpu_limits *limits);

/* Of any transform, by parts or not. */
int penstock__gpu_supports(const struct penstock_fft_problem *fft, const struct gpu_limits *limits);

int penstock__gpu_plane_init(struct gpu_plane *plane, struct penstock_plan_state *plan, const struct gpu_limits *limits,
                             unsigned variant);
void penstock__gpu_plane_free(struct gpu_plane *plane);
int penstock__gpu_plane_enqueue(struct penstock_slot *slot, struct gpu_plane *plane, struct gpu_plane_memory *memory,
                                const struct penstock_job *job);

/* When nothing in the slot is under way any more. */
void penstock__gpu_plane_memory_free(struct gpu_plane_memory *memory);

#endif
