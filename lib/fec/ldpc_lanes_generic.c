/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sixteen blocks side by side in vectors that any processor's compiler can make something of. */
#define LANES                   16
#define LESS(a, b)              chosen((a) < (b), a, b)
#define MORE(a, b)              chosen((a) > (b), a, b)
#define ADD_LIMITED(a, b)       add_limited(a, b)
#define SIGNED(m, x)            (((m) ^ ((x) < 0)) - ((x) < 0))
#define WHERE_EQUAL(a, b, x, y) chosen((a) == (b), x, y)

#include <stdint.h>

typedef int8_t sixteen __attribute__((vector_size(16)));
typedef uint8_t unsigned_bytes __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) sixteen chosen(sixteen mask, sixteen a, sixteen b)
{
    return b ^ (mask & (a ^ b));
}

/* A sum whose sign is that of neither has left 8 bits. */
static inline __attribute__((always_inline)) sixteen add_limited(sixteen a, sixteen b)
{
    sixteen sum = (sixteen)((unsigned_bytes)a + (unsigned_bytes)b), over = (sixteen)(((a ^ sum) & (b ^ sum)) < 0);
    return chosen(over, (sixteen)(a < 0) ^ 127, sum);
}

#include "fec/ldpc_lanes_kernel.h"

static bool usable(void)
{
    return true;
}

const struct penstock__ldpc_kernel penstock__ldpc_lanes_generic = {
    .name = "generic",
    .lanes = LANES,
    .usable = usable,
    .workspace = workspace,
    .workspace_one = workspace_one,
    .decode = decode,
    .decode_one = decode_one,
};
