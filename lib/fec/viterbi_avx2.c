/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Add, compare, select with AVX2: 64 metrics of 16 bits in four registers. Bit b of a place is the half of a register,
 * a its number, so that the change of places after phase 0 costs nothing.
 */
#include "fec/viterbi_x86.h"

#include <immintrin.h>

struct metrics {
    __m256i lower_0, lower_1, upper_0, upper_1; /* r and a */
};

/* One register of butterflies: the metrics of their even and odd states, and where they come from. */
struct butterflies {
    __m256i even, odd, even_from_upper, odd_from_upper;
};

static inline struct butterflies butterflies(__m256i lower, __m256i upper, __m256i m)
{
    __m256i even_lower = _mm256_add_epi16(lower, m), even_upper = _mm256_sub_epi16(upper, m);
    __m256i odd_lower = _mm256_sub_epi16(lower, m), odd_upper = _mm256_add_epi16(upper, m);
    return (struct butterflies){
        .even = _mm256_max_epi16(even_lower, even_upper),
        .odd = _mm256_max_epi16(odd_lower, odd_upper),
        .even_from_upper = _mm256_cmpgt_epi16(even_upper, even_lower),
        .odd_from_upper = _mm256_cmpgt_epi16(odd_upper, odd_lower),
    };
}

/* The same for -m. */
static inline struct butterflies negated(__m256i lower, __m256i upper, __m256i m)
{
    struct butterflies x = butterflies(lower, upper, m);
    return (struct butterflies){x.odd, x.even, x.odd_from_upper, x.even_from_upper};
}

static inline uint64_t decisions_of(struct butterflies x0, struct butterflies x1)
{
    uint32_t even = (uint32_t)_mm256_movemask_epi8(_mm256_packs_epi16(x0.even_from_upper, x1.even_from_upper));
    uint32_t odd = (uint32_t)_mm256_movemask_epi8(_mm256_packs_epi16(x0.odd_from_upper, x1.odd_from_upper));
    return even | (uint64_t)odd << 32;
}

static inline struct metrics change_a(struct butterflies x0, struct butterflies x1)
{
    return (struct metrics){x0.even, x0.odd, x1.even, x1.odd};
}

static inline struct metrics change_b(struct butterflies x0, struct butterflies x1)
{
    return (struct metrics){
        _mm256_permute2x128_si256(x0.even, x0.odd, 0x20),
        _mm256_permute2x128_si256(x1.even, x1.odd, 0x20),
        _mm256_permute2x128_si256(x0.even, x0.odd, 0x31),
        _mm256_permute2x128_si256(x1.even, x1.odd, 0x31),
    };
}

static inline struct metrics unpack(struct butterflies x0, struct butterflies x1)
{
    return (struct metrics){
        _mm256_unpacklo_epi16(x0.even, x0.odd),
        _mm256_unpacklo_epi16(x1.even, x1.odd),
        _mm256_unpackhi_epi16(x0.even, x0.odd),
        _mm256_unpackhi_epi16(x1.even, x1.odd),
    };
}

/* The branch metrics of register `a`. */
#define PICK(state, a)   _mm256_setr_epi8(VITERBI_PICK_8(state, 8 * (a)), VITERBI_PICK_8(state, 16 + 8 * (a)))
#define METRIC(state, a) _mm256_shuffle_epi8(four_branches(branch), PICK(state, a))

static inline __m256i four_branches(const int16_t branch[4])
{
    int64_t all;
    __builtin_memcpy(&all, branch, sizeof all);
    return _mm256_set1_epi64x(all);
}

static inline struct metrics phase_0(struct metrics s, const int16_t branch[4], uint64_t *decisions)
{
    struct butterflies x0 = butterflies(s.lower_0, s.upper_0, METRIC(VITERBI_STATE_0, 0));
    struct butterflies x1 = butterflies(s.lower_1, s.upper_1, METRIC(VITERBI_STATE_0, 1));
    *decisions = decisions_of(x0, x1);
    return change_a(x0, x1);
}

static inline struct metrics phase_1(struct metrics s, const int16_t branch[4], uint64_t *decisions)
{
    struct butterflies x0 = butterflies(s.lower_0, s.upper_0, METRIC(VITERBI_STATE_1, 0));
    struct butterflies x1 = butterflies(s.lower_1, s.upper_1, METRIC(VITERBI_STATE_1, 1));
    *decisions = decisions_of(x0, x1);
    return change_b(x0, x1);
}

/* From here on, bit a of the place is bit 1, 2 or 3 of the state. */
static inline struct metrics phase_2(struct metrics s, const int16_t branch[4], uint64_t *decisions)
{
    __m256i m = METRIC(VITERBI_STATE_2, 0);
    struct butterflies x0 = butterflies(s.lower_0, s.upper_0, m), x1 = negated(s.lower_1, s.upper_1, m);
    *decisions = decisions_of(x0, x1);
    return unpack(x0, x1);
}

static inline struct metrics phase_3(struct metrics s, const int16_t branch[4], uint64_t *decisions)
{
    __m256i m = METRIC(VITERBI_STATE_3, 0);
    struct butterflies x0 = butterflies(s.lower_0, s.upper_0, m), x1 = negated(s.lower_1, s.upper_1, m);
    *decisions = decisions_of(x0, x1);
    return unpack(x0, x1);
}

static inline struct metrics phase_4(struct metrics s, const int16_t branch[4], uint64_t *decisions)
{
    __m256i m = METRIC(VITERBI_STATE_4, 0);
    struct butterflies x0 = butterflies(s.lower_0, s.upper_0, m), x1 = butterflies(s.lower_1, s.upper_1, m);
    *decisions = decisions_of(x0, x1);
    return unpack(x0, x1);
}

static inline struct metrics normalised(struct metrics s)
{
    __m256i zero = _mm256_broadcastw_epi16(_mm256_castsi256_si128(s.lower_0));
    return (struct metrics){_mm256_sub_epi16(s.lower_0, zero), _mm256_sub_epi16(s.lower_1, zero),
                            _mm256_sub_epi16(s.upper_0, zero), _mm256_sub_epi16(s.upper_1, zero)};
}

static void store(int16_t metrics[32], __m256i word_0, __m256i word_1)
{
    __m256i *out = (__m256i *)(void *)metrics;
    _mm256_storeu_si256(out, _mm256_permute2x128_si256(word_0, word_1, 0x20));
    _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(word_0, word_1, 0x31));
}

static void forward(uint64_t *decisions, int16_t metrics[64], const int8_t *soft, size_t steps)
{
    __m256i start = _mm256_set1_epi16(VITERBI_START);
    struct metrics s = {_mm256_insert_epi16(start, 0, 0), start, start, start};

    VITERBI_FORWARD(viterbi_x86_branches);
    store(metrics, s.lower_0, s.lower_1);
    store(metrics + 32, s.upper_0, s.upper_1);
}

static bool usable(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct penstock__viterbi_variant penstock__viterbi_avx2 = {
    .name = "avx2",
    .usable = usable,
    .forward = forward,
};
