/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* 32 blocks side by side with AVX2. */
#include <immintrin.h>

#define LANES                   32
#define LESS(a, b)              ((vec)_mm256_min_epi8((__m256i)(a), (__m256i)(b)))
#define MORE(a, b)              ((vec)_mm256_max_epi8((__m256i)(a), (__m256i)(b)))
#define ADD_LIMITED(a, b)       ((vec)_mm256_adds_epi8((__m256i)(a), (__m256i)(b)))
#define SIGNED(m, x)            ((vec)_mm256_sign_epi8((__m256i)(m), _mm256_or_si256((__m256i)(x), _mm256_set1_epi8(1))))
#define WHERE_EQUAL(a, b, x, y) ((y) ^ ((vec)((a) == (b)) & ((x) ^ (y))))

#include "fec/ldpc_lanes_kernel.h"

static bool usable(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct penstock__ldpc_kernel penstock__ldpc_lanes_avx2 = {
    .name = "avx2",
    .lanes = LANES,
    .usable = usable,
    .workspace = workspace,
    .workspace_one = workspace_one,
    .decode = decode,
    .decode_one = decode_one,
};
