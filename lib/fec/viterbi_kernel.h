/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What the variants of the decoder share.
 *
 * A state is the last six input bits, the newest in bit 0. States j and j + 32 (0 <= j < 32) lead to 2 j (input 0) and
 * 2 j + 1 (input 1). Both generators begin and end with 1, so the four branches of this butterfly carry one pair of
 * coded bits or its complement, and one branch metric m serves all of them with a sign:
 *     even: metric[2 j]     = max(metric[j] + m, metric[j + 32] - m)
 *     odd:  metric[2 j + 1] = max(metric[j] - m, metric[j + 32] + m)
 * m is the correlation of the two soft bits with the coded bits of j -> 2 j. The lower state, j, wins a tie.
 *
 * Range: all states can be reached from the best one's ancestor of six steps ago, over branches with 12 coded bits, so
 * metrics never spread over more than 12 * 2 * 128 = 3072. A start of -4096 for all states but zero therefore keeps
 * them out for good, and 60 steps that add at most 256 each stay within 4096 + 60 * 256 = 19456 of the metric that was
 * made zero before them.
 *
 * Order. A vector variant keeps the metrics at places of six bits (r, b, a, w2, w1, w0): r tells the two halves of
 * all butterflies apart, w is the lane of a 128-bit word, a and b number the words. A butterfly works in place, and
 * then the oldest bit of the state has to move to r. Sorting the states anew would take shuffles across words in every
 * step; instead, the place of each bit of the state goes round with a period of five steps ("phases"):
 *     after phase 0 r and a change places, after phase 1 r and b,
 *     after phases 2 to 4 neighbouring lanes are unpacked: (r, w2, w1, w0) becomes (w2, w1, w0, r).
 * Whole words change places in phases 0 and 1, which costs nothing where a register is one word. A step's decision word
 * has bit (0, b, a, w) set when the even state of that butterfly comes from the upper one, and bit (1, b, a, w) when
 * the odd one does. After M. Biver, H. Kaeslin and C. Tommasini, "In-place updating of path metrics in Viterbi
 * decoders", IEEE J. Solid-State Circuits 24(4), 1989.
 */
#ifndef PENSTOCK_FEC_VITERBI_KERNEL_H
#define PENSTOCK_FEC_VITERBI_KERNEL_H

#include "fec/viterbi.h"

#define VITERBI_BLOCK  60 /* steps from one normalisation to the next: whole periods */
#define VITERBI_PHASES 5
#define VITERBI_START  (-4096)

/* Which bit of the state is at b, a, w2, w1, w0 when a phase begins; bit 5 is at r. */
#define VITERBI_BIT(x, i) (((x) >> (i)) & 1)
#define VITERBI_STATE(place, b, a, w2, w1, w0)                                               \
    (VITERBI_BIT(place, 4) << b | VITERBI_BIT(place, 3) << a | VITERBI_BIT(place, 2) << w2 | \
     VITERBI_BIT(place, 1) << w1 | VITERBI_BIT(place, 0) << w0)
#define VITERBI_STATE_0(place) VITERBI_STATE(place, 3, 4, 2, 1, 0)
#define VITERBI_STATE_1(place) VITERBI_STATE(place, 4, 0, 3, 2, 1)
#define VITERBI_STATE_2(place) VITERBI_STATE(place, 0, 1, 4, 3, 2)
#define VITERBI_STATE_3(place) VITERBI_STATE(place, 1, 2, 4, 3, 0)
#define VITERBI_STATE_4(place) VITERBI_STATE(place, 2, 3, 4, 1, 0)

/* The state at a place (0 .. 63) when a phase begins. */
static inline unsigned viterbi_state(unsigned phase, unsigned place)
{
    unsigned top = place & 32;
    switch (phase) {
    case 0:
        return top | VITERBI_STATE_0(place);
    case 1:
        return top | VITERBI_STATE_1(place);
    case 2:
        return top | VITERBI_STATE_2(place);
    case 3:
        return top | VITERBI_STATE_3(place);
    default:
        return top | VITERBI_STATE_4(place);
    }
}

/* The metrics of a step are kept as a - b, b - a, a + b, -a - b, with soft bits a for generator 133 and b for 171. The
 * label of j (< 32) is the place of the m of its butterfly among them. */
#define VITERBI_A(j)     (VITERBI_BIT(j, 1) ^ VITERBI_BIT(j, 2) ^ VITERBI_BIT(j, 4))
#define VITERBI_B(j)     (VITERBI_BIT(j, 0) ^ VITERBI_BIT(j, 1) ^ VITERBI_BIT(j, 2))
#define VITERBI_LABEL(j) (VITERBI_A(j) + 2 * (1 ^ VITERBI_A(j) ^ VITERBI_B(j)))

/* A byte shuffle that takes m for the eight places from `place` on out of the four metrics of a step; `state` is one of
 * VITERBI_STATE_0 .. VITERBI_STATE_4. Bits 1 and 2 of the state complement both coded bits, so -m; bit 3 none. */
#define VITERBI_PICK(state, place) 2 * VITERBI_LABEL(state(place)), 2 * VITERBI_LABEL(state(place)) + 1
#define VITERBI_PICK_8(state, place)                                                                          \
    VITERBI_PICK(state, (place)), VITERBI_PICK(state, (place) + 1), VITERBI_PICK(state, (place) + 2),         \
        VITERBI_PICK(state, (place) + 3), VITERBI_PICK(state, (place) + 4), VITERBI_PICK(state, (place) + 5), \
        VITERBI_PICK(state, (place) + 6), VITERBI_PICK(state, (place) + 7)

/* The four branch metrics of each step. */
static inline void viterbi_branches(int16_t branch[][4], const int8_t *soft, size_t steps)
{
    for (size_t i = 0; i < steps; i++) {
        int a = soft[2 * i], b = soft[2 * i + 1];
        branch[i][0] = (int16_t)(a - b);
        branch[i][1] = (int16_t)(b - a);
        branch[i][2] = (int16_t)(a + b);
        branch[i][3] = (int16_t)(-a - b);
    }
}

/* The loop of every vector variant, over its `s`, normalised() and phase_0() .. phase_4(); `branches` fills in the
 * branch metrics of a block. */
#define VITERBI_FORWARD(branches)                                           \
    for (; steps; decisions += VITERBI_BLOCK, soft += 2 * VITERBI_BLOCK) {  \
        int16_t branch[VITERBI_BLOCK][4];                                   \
        size_t here = steps < VITERBI_BLOCK ? steps : VITERBI_BLOCK, i = 0; \
        s = normalised(s);                                                  \
        branches(branch, soft, here);                                       \
        for (; i + VITERBI_PHASES <= here; i += VITERBI_PHASES) {           \
            s = phase_0(s, branch[i], &decisions[i]);                       \
            s = phase_1(s, branch[i + 1], &decisions[i + 1]);               \
            s = phase_2(s, branch[i + 2], &decisions[i + 2]);               \
            s = phase_3(s, branch[i + 3], &decisions[i + 3]);               \
            s = phase_4(s, branch[i + 4], &decisions[i + 4]);               \
        }                                                                   \
        if (i < here)                                                       \
            s = phase_0(s, branch[i], &decisions[i]);                       \
        if (i + 1 < here)                                                   \
            s = phase_1(s, branch[i + 1], &decisions[i + 1]);               \
        if (i + 2 < here)                                                   \
            s = phase_2(s, branch[i + 2], &decisions[i + 2]);               \
        if (i + 3 < here)                                                   \
            s = phase_3(s, branch[i + 3], &decisions[i + 3]);               \
        steps -= here;                                                      \
    }

extern const struct penstock__viterbi_variant penstock__viterbi_generic;
extern const struct penstock__viterbi_variant penstock__viterbi_ssse3;
extern const struct penstock__viterbi_variant penstock__viterbi_avx2;
extern const struct penstock__viterbi_variant penstock__viterbi_neon;

#endif
