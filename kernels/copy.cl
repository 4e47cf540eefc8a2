/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Copies `count` pieces of 16 bytes: the roof over every kernel that goes through memory once. */
K_KERNEL(256, 1)
copy(K_GLOBAL const uint4 *K_RESTRICT from, K_GLOBAL uint4 *K_RESTRICT to, const k_u32 from_at, const k_u32 to_at,
     const k_u32 count)
{
    const k_u32 i = (k_u32)K_GROUP() * 256u + (k_u32)K_LANE_X();
    K_EARLY();
    if (i < count)
        to[to_at + i] = from[from_at + i];
}
