/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of a frame's loops this processor runs. */
#include "rx/wifi/frame_kernels.h"
#include "vector/instructions.h"

const struct frame_kernels *penstock__frame_kernels(void)
{
    const struct frame_kernels *avx2 = AVX2_BUILD(&penstock__frame_kernels_avx2);
    return avx2 ? avx2 : &penstock__frame_kernels_plain;
}
