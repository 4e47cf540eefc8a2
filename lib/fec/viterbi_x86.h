/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Branch metrics as the variants for x86 compute them: four steps at a time. */
#ifndef PENSTOCK_FEC_VITERBI_X86_H
#define PENSTOCK_FEC_VITERBI_X86_H

#include "fec/viterbi_kernel.h"

#include <tmmintrin.h>

static inline void viterbi_x86_branches(int16_t branch[][4], const int8_t *soft, size_t steps)
{
    const __m128i minus_second = _mm_set1_epi32((int)0xffff0001u);
    size_t i = 0;
    for (; i + 4 <= steps; i += 4) {
        __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(soft + 2 * i));
        __m128i ab = _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
        __m128i ba = _mm_shufflehi_epi16(_mm_shufflelo_epi16(ab, 0xb1), 0xb1);
        __m128i differences = _mm_sub_epi16(ab, ba);
        __m128i sums = _mm_sign_epi16(_mm_add_epi16(ab, ba), minus_second);
        _mm_storeu_si128((__m128i *)(void *)branch[i], _mm_unpacklo_epi32(differences, sums));
        _mm_storeu_si128((__m128i *)(void *)branch[i + 2], _mm_unpackhi_epi32(differences, sums));
    }
    viterbi_branches(branch + i, soft + 2 * i, steps - i);
}

#endif
