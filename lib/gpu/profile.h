/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a kind of GPU has for its work-items, where its driver does not tell: registers, and how many waves they leave.
 */
#ifndef PENSTOCK_GPU_PROFILE_H
#define PENSTOCK_GPU_PROFILE_H

#include "gpu/launch_config.h"

struct gpu_profile {
    const char *name;
    unsigned wave;      /* work-items that run in step, where the driver does not tell */
    unsigned registers; /* of 32 bits, that all waves of an execution unit share, for each of their work-items */
    unsigned granule;   /* in which a wave gets them */
    unsigned most;      /* that a work-item may have */
    unsigned waves;     /* that a unit holds at most */
    unsigned local;     /* bytes of local memory for each unit, of what several share; 0: not known */
    unsigned wanted;    /* waves that local memory should leave room for */
};

/* By the texts of device, driver and platform; NULL: a GPU that is not known. */
const struct gpu_profile *penstock__gpu_profile(const char *identity);

/* Waves of a unit with so many registers a work-item; 0: more than it may have. */
unsigned penstock__gpu_profile_waves(const struct gpu_profile *profile, unsigned registers);

/* Into limits what launch configurations follow from. NVIDIA's are those that were measured there. `wave`: as the
 * driver tells, or 0. */
void penstock__gpu_profile_limit(struct gpu_limits *limits, const struct gpu_profile *profile, unsigned wave);

/* In words: "AMD RDNA: waves of 32, 64 KiB and 1024 work-items a group, memory of its own, images". */
void penstock__gpu_profile_text(char *text, size_t capacity, const struct gpu_profile *profile,
                                const struct gpu_limits *limits, bool shares_memory, bool images);

#endif
