/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* 16 blocks side by side with NEON, two registers a vector. */
#include <arm_neon.h>
#include <stdint.h>

#define LANES             16
#define MAX(a, b)         larger(a, b)
#define UNPACK            1
#define BYTES             int8x16_t
#define UNPACK_LOW(a, b)  vzip1q_s8(a, b)
#define UNPACK_HIGH(a, b) vzip2q_s8(a, b)

typedef int16_t two __attribute__((vector_size(32)));

static inline __attribute__((always_inline)) two larger(two a, two b)
{
    union {
        two whole;
        int16x8_t half[2];
    } x = {a}, y = {b};
    x.half[0] = vmaxq_s16(x.half[0], y.half[0]);
    x.half[1] = vmaxq_s16(x.half[1], y.half[1]);
    return x.whole;
}

#include "fec/viterbi_lanes_kernel.h"

static bool usable(void)
{
    return true;
}

const struct penstock__viterbi_kernel penstock__viterbi_lanes_neon = {
    .name = "neon",
    .lanes = LANES,
    .usable = usable,
    .workspace = workspace,
    .workspace_long = workspace_long,
    .decode = decode,
    .decode_long = decode_long,
};
