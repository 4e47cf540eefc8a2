/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernel that a driver must get right before its device is offered (lib/gpu/trial.c): values of a work-group change
 * places through local memory. TRIAL_FACTOR differs each time, so that no driver has it compiled. */
K_KERNEL(8, 1)
trial(K_GLOBAL float *K_RESTRICT values)
{
    K_LOCAL_ARRAY(float, kept, 8);
    const k_u32 lane = (k_u32)K_LANE_X(), at = (k_u32)K_GROUP() * 8u + lane;
    K_EARLY();
    kept[lane] = values[at];
    K_BARRIER();
    values[at] = kept[7u - lane] * TRIAL_FACTOR + (float)lane;
}
