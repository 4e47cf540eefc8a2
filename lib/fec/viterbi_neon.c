/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Add, compare, select with NEON: 64 metrics of 16 bits in eight registers, numbered by bits b and a of their place. */
#include "fec/viterbi_kernel.h"

#include <arm_neon.h>

struct metrics {
    int16x8_t lower[4], upper[4];
};

struct butterflies {
    int16x8_t even[4], odd[4];
};

/* Comparison results of eight lanes each, all ones or zero, to one bit each. */
static inline uint64_t decision_word(const uint16x8_t even[4], const uint16x8_t odd[4])
{
    const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t e0 = vandq_u8(vcombine_u8(vmovn_u16(even[0]), vmovn_u16(even[1])), weights);
    uint8x16_t e1 = vandq_u8(vcombine_u8(vmovn_u16(even[2]), vmovn_u16(even[3])), weights);
    uint8x16_t o0 = vandq_u8(vcombine_u8(vmovn_u16(odd[0]), vmovn_u16(odd[1])), weights);
    uint8x16_t o1 = vandq_u8(vcombine_u8(vmovn_u16(odd[2]), vmovn_u16(odd[3])), weights);
    uint8x16_t sums = vpaddq_u8(vpaddq_u8(e0, e1), vpaddq_u8(o0, o1));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

/* `m`: branch metrics of the four registers. */
static inline struct butterflies butterflies(const struct metrics *s, const int16x8_t m[4], uint64_t *decisions)
{
    struct butterflies x;
    uint16x8_t even_from_upper[4], odd_from_upper[4];
    for (int i = 0; i < 4; i++) {
        int16x8_t even_lower = vaddq_s16(s->lower[i], m[i]), even_upper = vsubq_s16(s->upper[i], m[i]);
        int16x8_t odd_lower = vsubq_s16(s->lower[i], m[i]), odd_upper = vaddq_s16(s->upper[i], m[i]);
        x.even[i] = vmaxq_s16(even_lower, even_upper);
        x.odd[i] = vmaxq_s16(odd_lower, odd_upper);
        even_from_upper[i] = vcgtq_s16(even_upper, even_lower);
        odd_from_upper[i] = vcgtq_s16(odd_upper, odd_lower);
    }
    *decisions = decision_word(even_from_upper, odd_from_upper);
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
        s.lower[i] = vzip1q_s16(x->even[i], x->odd[i]);
        s.upper[i] = vzip2q_s16(x->even[i], x->odd[i]);
    }
    return s;
}

static inline int16x8_t pick(const int16_t branch[4], const uint8_t bytes[16])
{
    uint8x16_t four = vreinterpretq_u8_s16(vcombine_s16(vld1_s16(branch), vdup_n_s16(0)));
    return vreinterpretq_s16_u8(vqtbl1q_u8(four, vld1q_u8(bytes)));
}

#define PICKS(state)                                                                         \
    {                                                                                        \
        {VITERBI_PICK_8(state, 0)}, {VITERBI_PICK_8(state, 8)}, {VITERBI_PICK_8(state, 16)}, \
        {                                                                                    \
            VITERBI_PICK_8(state, 24)                                                        \
        }                                                                                    \
    }
static const uint8_t picks[VITERBI_PHASES][4][16] = {
    PICKS(VITERBI_STATE_0), PICKS(VITERBI_STATE_1), PICKS(VITERBI_STATE_2),
    PICKS(VITERBI_STATE_3), PICKS(VITERBI_STATE_4),
};

/* One step of a phase, then the change of places that follows it. */
#define STEP(phase, change)                                                                                    \
    static inline struct metrics phase_##phase(struct metrics s, const int16_t branch[4], uint64_t *decisions) \
    {                                                                                                          \
        const int16x8_t m[4] = {pick(branch, picks[phase][0]), pick(branch, picks[phase][1]),                  \
                                pick(branch, picks[phase][2]), pick(branch, picks[phase][3])};                 \
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
    int16x8_t zero = vdupq_laneq_s16(s.lower[0], 0);
    for (int i = 0; i < 4; i++) {
        s.lower[i] = vsubq_s16(s.lower[i], zero);
        s.upper[i] = vsubq_s16(s.upper[i], zero);
    }
    return s;
}

static void forward(uint64_t *decisions, int16_t metrics[64], const int8_t *soft, size_t steps)
{
    int16x8_t start = vdupq_n_s16(VITERBI_START);
    struct metrics s = {{vsetq_lane_s16(0, start, 0), start, start, start}, {start, start, start, start}};

    VITERBI_FORWARD(viterbi_branches);
    for (int i = 0; i < 4; i++) {
        vst1q_s16(metrics + 8 * i, s.lower[i]);
        vst1q_s16(metrics + 32 + 8 * i, s.upper[i]);
    }
}

static bool usable(void)
{
    return true; /* a part of every AArch64 processor */
}

const struct penstock__viterbi_variant penstock__viterbi_neon = {
    .name = "neon",
    .usable = usable,
    .forward = forward,
};
