/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernel that copies memory, kernels/copy.cl: its source and its launch. */
#ifndef PENSTOCK_GPU_COPY_H
#define PENSTOCK_GPU_COPY_H

#include "gpu/text.h"

#define GPU_COPY_GROUP 256 /* work-items of a group, each of which copies 16 bytes */

struct gpu_copy_arguments {
    uint32_t from_at, to_at, count; /* in 16 bytes */
    size_t groups;
};

int penstock__gpu_copy_source(struct gpu_text *text, const penstock_context *context);

/* PENSTOCK_ERR_ARGUMENT where places or bytes are no multiples of 16, or too many. */
int penstock__gpu_copy_arguments(struct gpu_copy_arguments *arguments, const struct penstock_device *device,
                                 const struct penstock_device_copy *copy);

#endif
