/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The first kernel of a device, kernels/trial.cl: its source, its values and what must become of them. */
#ifndef PENSTOCK_GPU_TRIAL_H
#define PENSTOCK_GPU_TRIAL_H

#include "gpu/text.h"

#define GPU_TRIAL_GROUP  8 /* work-items, each of which has one value */
#define GPU_TRIAL_VALUES 64

struct gpu_trial {
    unsigned factor; /* of this time */
    float values[GPU_TRIAL_VALUES];
};

int penstock__gpu_trial_source(struct gpu_text *text, struct gpu_trial *trial, const penstock_context *context);

/* PENSTOCK_ERR_CHECK where the values are not those that the kernel gives. */
int penstock__gpu_trial_check(const struct gpu_trial *trial, const struct penstock_device *device);

#endif
