/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Add, compare, select in plain C, states in their own order: what the other variants must equal. */
#include "fec/viterbi_kernel.h"

static bool always(void)
{
    return true;
}

/* What stays the same from step to step. */
struct tables {
    int16_t sign_a[32], sign_b[32];    /* of the two soft bits in the branch metric of j */
    uint8_t order[VITERBI_PHASES][32]; /* j by place */
};

static void fill_tables(struct tables *tables)
{
    for (int j = 0; j < 32; j++) {
        tables->sign_a[j] = VITERBI_A(j) ? -1 : 1;
        tables->sign_b[j] = VITERBI_B(j) ? -1 : 1;
    }
    for (unsigned phase = 0; phase < VITERBI_PHASES; phase++)
        for (unsigned place = 0; place < 32; place++)
            tables->order[phase][place] = (uint8_t)viterbi_state(phase, place);
}

/* Returns the decision word. Compilers turn the first two loops into vector code. */
static uint64_t step(int16_t metrics[64], int a, int b, const struct tables *tables, const uint8_t order[32])
{
    int16_t even[32], odd[32];
    uint8_t even_from_upper[32], odd_from_upper[32];
    uint32_t even_word = 0, odd_word = 0;
    for (int j = 0; j < 32; j++) {
        int16_t m = (int16_t)(tables->sign_a[j] * a + tables->sign_b[j] * b);
        int16_t even_lower = (int16_t)(metrics[j] + m), even_upper = (int16_t)(metrics[j + 32] - m);
        int16_t odd_lower = (int16_t)(metrics[j] - m), odd_upper = (int16_t)(metrics[j + 32] + m);
        even[j] = even_upper > even_lower ? even_upper : even_lower;
        odd[j] = odd_upper > odd_lower ? odd_upper : odd_lower;
        even_from_upper[j] = even_upper > even_lower;
        odd_from_upper[j] = odd_upper > odd_lower;
    }
    for (int j = 0; j < 32; j++) {
        metrics[2 * j] = even[j];
        metrics[2 * j + 1] = odd[j];
    }
    for (int place = 0; place < 32; place++) {
        even_word |= (uint32_t)even_from_upper[order[place]] << place;
        odd_word |= (uint32_t)odd_from_upper[order[place]] << place;
    }
    return even_word | (uint64_t)odd_word << 32;
}

static void forward(uint64_t *decisions, int16_t metrics[64], const int8_t *soft, size_t steps)
{
    struct tables tables;
    int16_t by_state[64];
    fill_tables(&tables);
    for (int s = 0; s < 64; s++)
        by_state[s] = s ? VITERBI_START : 0;

    for (size_t t = 0; t < steps; t++) {
        int16_t zero = by_state[0];
        for (int s = 0; s < 64 && t % VITERBI_BLOCK == 0; s++)
            by_state[s] = (int16_t)(by_state[s] - zero);
        decisions[t] = step(by_state, soft[2 * t], soft[2 * t + 1], &tables, tables.order[t % VITERBI_PHASES]);
    }
    for (unsigned place = 0; place < 64; place++)
        metrics[place] = by_state[viterbi_state(steps % VITERBI_PHASES, place)];
}

const struct penstock__viterbi_variant penstock__viterbi_generic = {
    .name = "generic",
    .usable = always,
    .forward = forward,
};
