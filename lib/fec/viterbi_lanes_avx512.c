/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* 32 blocks side by side with AVX-512 (BW). */
#include <immintrin.h>

#define LANES             32
#define MAX(a, b)         ((vec)_mm512_max_epi16((__m512i)(a), (__m512i)(b)))
#define UNPACK            1
#define BYTES             __m128i
#define UNPACK_LOW(a, b)  _mm_unpacklo_epi8(a, b)
#define UNPACK_HIGH(a, b) _mm_unpackhi_epi8(a, b)

#include "fec/viterbi_lanes_kernel.h"

static bool usable(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
}

const struct penstock__viterbi_kernel penstock__viterbi_lanes_avx512 = {
    .name = "avx512",
    .lanes = LANES,
    .usable = usable,
    .workspace = workspace,
    .workspace_long = workspace_long,
    .decode = decode,
    .decode_long = decode_long,
};
