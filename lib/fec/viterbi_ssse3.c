/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Add, compare, select with SSSE3: 64 metrics of 16 bits in eight registers, numbered by bits b and a of their place.
 */
#include "fec/viterbi_x86.h"

struct metrics {
    __m128i lower[4], upper[4];
};

struct butterflies {
    __m128i even[4], odd[4];
};

/* `m`: branch metrics of the four registers. */
static inline struct butterflies butterflies(const struct metrics *s, const __m128i m[4], uint64_t *decisions)
{
    struct butterflies x;
    __m128i even_from_upper[4], odd_from_upper[4];
    for (int i = 0; i < 4; i++) {
        __m128i even_lower = _mm_add_epi16(s->lower[i], m[i]), even_upper = _mm_sub_epi16(s->upper[i], m[i]);
        __m128i odd_lower = _mm_sub_epi16(s->lower[i], m[i]), odd_upper = _mm_add_epi16(s->upper[i], m[i]);
        x.even[i] = _mm_max_epi16(even_lower, even_upper);
        x.odd[i] = _mm_max_epi16(odd_lower, odd_upper);
        even_from_upper[i] = _mm_cmpgt_epi16(even_upper, even_lower);
        odd_from_upper[i] = _mm_cmpgt_epi16(odd_upper, odd_lower);
    }
    *decisions = 0;
    for (int i = 0; i < 2; i++) {
        __m128i even = _mm_packs_epi16(even_from_upper[2 * i], even_from_upper[2 * i + 1]);
        __m128i odd = _mm_packs_epi16(odd_from_upper[2 * i], odd_from_upper[2 * i + 1]);
        *decisions |= (uint64_t)(unsigned)_mm_movemask_epi8(even) << 16 * i;
        *decisions |= (uint64_t)(unsigned)_mm_movemask_epi8(odd) << (32 + 16 * i);
    }
    return x;
}

static inline struct metrics change_a(const struct butterflies *x)
{
    return (struct metrics){{x->even[0], x->odd[0], x->even[2], x->odd[2]},
                            {x->even[1], x->odd[1], x->even[3], x->odd[3]}};
}

static inline struct metrics change_b(const struct butterflies *x)
{
    return (struct metrics){{x->even[0], x->even[1], x->odd[0], x->odd[1]},
                            {x->even[2], x->even[3], x->odd[2], x->odd[3]}};
}

static inline struct metrics unpack(const struct butterflies *x)
{
    struct metrics s;
    for (int i = 0; i < 4; i++) {
        s.lower[i] = _mm_unpacklo_epi16(x->even[i], x->odd[i]);
        s.upper[i] = _mm_unpackhi_epi16(x->even[i], x->odd[i]);
    }
    return s;
}

#define PICK(state, place) _mm_shuffle_epi8(four, _mm_setr_epi8(VITERBI_PICK_8(state, place)))

/* One step of a phase, then the change of places that follows it. */
#define STEP(phase, change)                                                                                    \
    static inline struct metrics phase_##phase(struct metrics s, const int16_t branch[4], uint64_t *decisions) \
    {                                                                                                          \
        const __m128i four = _mm_loadl_epi64((const __m128i *)(const void *)branch);                           \
        const __m128i m[4] = {PICK(VITERBI_STATE_##phase, 0), PICK(VITERBI_STATE_##phase, 8),                  \
                              PICK(VITERBI_STATE_##phase, 16), PICK(VITERBI_STATE_##phase, 24)};               \
        struct butterflies x = butterflies(&s, m, decisions);                                                  \
        return change(&x);                                                                                     \
    }
STEP(0, change_a)
STEP(1, change_b)
STEP(2, unpack)
STEP(3, unpack)
STEP(4, unpack)

static inline struct metrics normalised(struct metrics s)
{
    __m128i zero = _mm_set1_epi16((short)_mm_extract_epi16(s.lower[0], 0));
    for (int i = 0; i < 4; i++) {
        s.lower[i] = _mm_sub_epi16(s.lower[i], zero);
        s.upper[i] = _mm_sub_epi16(s.upper[i], zero);
    }
    return s;
}

static void forward(uint64_t *decisions, int16_t metrics[64], const int8_t *soft, size_t steps)
{
    __m128i start = _mm_set1_epi16(VITERBI_START);
    struct metrics s = {{_mm_insert_epi16(start, 0, 0), start, start, start}, {start, start, start, start}};

    VITERBI_FORWARD(viterbi_x86_branches);
    for (int i = 0; i < 4; i++) {
        _mm_storeu_si128((__m128i *)(void *)(metrics + 8 * i), s.lower[i]);
        _mm_storeu_si128((__m128i *)(void *)(metrics + 32 + 8 * i), s.upper[i]);
    }
}

static bool usable(void)
{
    return __builtin_cpu_supports("ssse3");
}

const struct penstock__viterbi_variant penstock__viterbi_ssse3 = {
    .name = "ssse3",
    .usable = usable,
    .forward = forward,
};
