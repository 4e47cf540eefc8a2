/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a plan can be tuned among: configurations of its kernels near the usual one, as texts for
 * gpu/tuning_parameters.h. */
#ifndef PENSTOCK_GPU_TUNING_H
#define PENSTOCK_GPU_TUNING_H

#include "gpu/fused_kernel.h"

/*
 * Of a backend and its device, whose limits and versions of device, driver and compiler these are. Each configuration
 * is another one than the usual and than those before it, and fits the device. None for what is done in parts and where
 * `options` say how.
 */
int penstock__gpu_launch_configs(struct penstock_launch_configs *configs, const struct penstock_device *device,
                                 const struct penstock_problem *problem, const struct gpu_limits *limits,
                                 const char *identity);

#endif
