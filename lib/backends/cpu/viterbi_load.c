/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What lies before and behind a decoder of blocks: puncturing and tail-biting. */
#include "backends/cpu/cpu_viterbi.h"
#include "backends/cpu/soft.h"

#include <string.h>

#define MEAN_LEVEL 32.0 /* of a block of floats with a scale of its own */

/* From what was sent to all coded bits, those that were not being 0. */
static void depuncture(int8_t *soft, const struct penstock_viterbi_problem *problem, const void *in, size_t coded,
                       float scale)
{
    int8_t sent[PENSTOCK_MAX_PUNCTURE];
    uint16_t place[PENSTOCK_MAX_PUNCTURE];
    const size_t span = PENSTOCK_MAX_PUNCTURE / problem->period * problem->period; /* some periods at a time */
    size_t kept = 0;
    for (size_t i = 0; i < span; i++)
        if (problem->kept[i % problem->period])
            place[kept++] = (uint16_t)i;
    memset(soft, 0, coded);
    for (size_t at = 0, first = 0; at < coded; at += span, first += kept) {
        size_t here = kept;
        while (here && at + place[here - 1] >= coded)
            here--;
        penstock__cpu_soft_convert(sent, problem->soft, in, first, here, scale);
        for (size_t i = 0; i < here; i++)
            soft[at + place[i]] = sent[i];
    }
}

void penstock__cpu_viterbi_load(int8_t *soft, const struct penstock_viterbi_problem *problem, const void *in,
                                size_t bits)
{
    const size_t steps = penstock__viterbi_steps(problem, bits), coded = steps * problem->count;
    const size_t lead = problem->depth * problem->count, sent = penstock__viterbi_sent(problem, steps);
    float scale = problem->scale;
    if (problem->soft == PENSTOCK_SOFT_F32 && scale == 0)
        scale = penstock__cpu_soft_scale(in, sent, MEAN_LEVEL);
    if (sent == coded)
        penstock__cpu_soft_convert(soft + lead, problem->soft, in, 0, coded, scale);
    else
        depuncture(soft + lead, problem, in, coded, scale);
    for (size_t i = lead; i--;) /* round the block */
        soft[i] = soft[i + coded];
    for (size_t i = lead + coded; i < 2 * lead + coded; i++)
        soft[i] = soft[i - coded];
}

void penstock__cpu_viterbi_store(uint8_t *out, const struct penstock_viterbi_problem *problem, const uint8_t *packed,
                                 size_t bits)
{
    penstock__cpu_store_bits(out, problem->result, packed, problem->depth, bits);
}
