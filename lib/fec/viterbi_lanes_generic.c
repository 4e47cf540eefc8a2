/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Eight blocks side by side in vectors that any processor's compiler can make something of. */
#define LANES     8
#define MAX(a, b) larger(a, b)

#include <stdint.h>
#ifdef __SSE2__ /* of every processor for x86-64 */
#include <emmintrin.h>
#endif

typedef int16_t eight __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) eight larger(eight a, eight b)
{
#ifdef __SSE2__
    return (eight)_mm_max_epi16((__m128i)a, (__m128i)b);
#else
    eight other = a ^ b;
    return b ^ (other & (a > b));
#endif
}

#include "fec/viterbi_lanes_kernel.h"

static bool usable(void)
{
    return true;
}

const struct penstock__viterbi_kernel penstock__viterbi_lanes_generic = {
    .name = "generic",
    .lanes = LANES,
    .usable = usable,
    .workspace = workspace,
    .workspace_long = workspace_long,
    .decode = decode,
    .decode_long = decode_long,
};
