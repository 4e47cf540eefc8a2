/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The steps of penstock__gpu_launch_config(): what was measured or is asked for, then stages, then local memory and
 * groups. */
#ifndef PENSTOCK_GPU_LAUNCH_CONFIG_CHOICE_H
#define PENSTOCK_GPU_LAUNCH_CONFIG_CHOICE_H

#include "gpu/launch_config.h"
#include "gpu/tuning_parameters.h"

#define GPU_CPU_LOWS 8 /* floats of an AVX register */

struct gpu_preset {
    unsigned char slots, radix[4], per_group; /* per_group 0: as fills a group best */
};

/* Of a power of two; NULL for other lengths and long ones. */
const struct gpu_preset *penstock__gpu_preset(unsigned n, bool cpu);

/* What is asked for or was measured; nothing for other variants and CPUs. */
struct gpu_tuning penstock__gpu_launch_config_tuning(const struct gpu_requirements *requirements,
                                                     const struct gpu_limits *limits);

/* Radices, work-items and slots; false where no choice fits. */
bool penstock__gpu_launch_config_stages(struct gpu_launch_config *config, const struct gpu_requirements *requirements,
                                        const struct gpu_tuning *tuning, unsigned max_lanes);

/* Local memory and groups of transforms that lie one behind the other, ... */
int penstock__gpu_launch_config_rows(struct gpu_launch_config *config, const struct gpu_requirements *requirements,
                                     const struct gpu_limits *limits, const struct gpu_tuning *tuning);

/* ... and of such that lie side by side. */
int penstock__gpu_launch_config_columns(struct gpu_launch_config *config, const struct gpu_requirements *requirements,
                                        const struct gpu_limits *limits, const struct gpu_tuning *tuning);

#endif
