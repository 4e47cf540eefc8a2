/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* 16 blocks side by side with NEON. */
#include <arm_neon.h>

#define LANES                   16
#define LESS(a, b)              ((vec)vminq_s8((int8x16_t)(a), (int8x16_t)(b)))
#define MORE(a, b)              ((vec)vmaxq_s8((int8x16_t)(a), (int8x16_t)(b)))
#define ADD_LIMITED(a, b)       ((vec)vqaddq_s8((int8x16_t)(a), (int8x16_t)(b)))
#define SIGNED(m, x)            (((m) ^ (vec)((x) < 0)) - (vec)((x) < 0))
#define WHERE_EQUAL(a, b, x, y) ((vec)vbslq_s8((uint8x16_t)((a) == (b)), (int8x16_t)(x), (int8x16_t)(y)))

#include "fec/ldpc_lanes_kernel.h"

static bool usable(void)
{
    return true;
}

const struct penstock__ldpc_kernel penstock__ldpc_lanes_neon = {
    .name = "neon",
    .lanes = LANES,
    .usable = usable,
    .workspace = workspace,
    .workspace_one = workspace_one,
    .decode = decode,
    .decode_one = decode_one,
};
