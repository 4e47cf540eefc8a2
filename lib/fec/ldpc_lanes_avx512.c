/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* 64 blocks side by side with AVX-512 (BW). */
#include <immintrin.h>

#define LANES             64
#define LESS(a, b)        ((vec)_mm512_min_epi8((__m512i)(a), (__m512i)(b)))
#define MORE(a, b)        ((vec)_mm512_max_epi8((__m512i)(a), (__m512i)(b)))
#define ADD_LIMITED(a, b) ((vec)_mm512_adds_epi8((__m512i)(a), (__m512i)(b)))
#define SIGNED(m, x)      signed_by(m, x)
#define WHERE_EQUAL(a, b, x, y) \
    ((vec)_mm512_mask_mov_epi8((__m512i)(y), _mm512_cmpeq_epi8_mask((__m512i)(a), (__m512i)(b)), (__m512i)(x)))

typedef signed char all_lanes __attribute__((vector_size(64)));

static inline __attribute__((always_inline)) all_lanes signed_by(all_lanes m, all_lanes x)
{
    __mmask64 negative = _mm512_movepi8_mask((__m512i)x);
    return (all_lanes)_mm512_mask_sub_epi8((__m512i)m, negative, _mm512_setzero_si512(), (__m512i)m);
}

#include "fec/ldpc_lanes_kernel.h"

static bool usable(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}

const struct penstock__ldpc_kernel penstock__ldpc_lanes_avx512 = {
    .name = "avx512",
    .lanes = LANES,
    .usable = usable,
    .workspace = workspace,
    .workspace_one = workspace_one,
    .decode = decode,
    .decode_one = decode_one,
};
