/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Convolutional encoders: 48 steps at a time in one word, one generator after the other. */
#include "core/stream/rest.h"
#include "ops/coding/viterbi.h"

#define STEPS 48

static unsigned bit_at(const struct penstock_viterbi_problem *viterbi, const uint8_t *bits, size_t i)
{
    if (viterbi->result == PENSTOCK_BITS_UNPACKED)
        return bits[i] != 0;
    return bits[i / 8] >> (viterbi->result == PENSTOCK_BITS_LSB_FIRST ? i % 8 : 7 - i % 8) & 1u;
}

/* The bits from step `first` on, behind the last K - 1 before them: bit K - 1 + t is that of step first + t. Behind the
 * block there are zeros. */
static uint64_t window_at(const struct penstock_viterbi_problem *viterbi, const uint8_t *bits, uint64_t before,
                          size_t first, size_t count)
{
    uint64_t window = before;
    for (size_t t = 0; t < count && first + t < viterbi->bits; t++)
        window |= (uint64_t)bit_at(viterbi, bits, first + t) << (viterbi->constraint - 1 + t);
    return window;
}

/* The last K - 1 bits of the block, going round it as often as that takes, the oldest lowest. */
static uint64_t bits_before(const struct penstock_viterbi_problem *viterbi, const uint8_t *bits)
{
    const size_t memory = viterbi->constraint - 1;
    uint64_t before = 0;
    for (size_t t = 0; t < memory && viterbi->end == PENSTOCK_TRELLIS_TAIL_BITING; t++)
        before |= (uint64_t)bit_at(viterbi, bits, (viterbi->bits * memory - memory + t) % viterbi->bits) << t;
    return before;
}

/* Bit t is the generator's of step t. */
static uint64_t coded_word(const struct penstock_viterbi_problem *viterbi, uint64_t window, unsigned g)
{
    uint64_t word = viterbi->inverted >> g & 1 ? ~(uint64_t)0 : 0;
    for (unsigned i = 0; i < viterbi->constraint; i++)
        if (viterbi->generators[g] >> i & 1)
            word ^= window >> i;
    return word;
}

static uint8_t *encode(uint8_t *coded, const struct penstock_viterbi_problem *viterbi, const uint8_t *bits)
{
    const size_t steps = penstock__viterbi_steps(viterbi, viterbi->bits);
    uint64_t before = bits_before(viterbi, bits), words[PENSTOCK_MAX_GENERATORS];
    size_t place = 0; /* in the puncturing pattern */
    for (size_t first = 0; first < steps; first += STEPS) {
        size_t here = steps - first < STEPS ? steps - first : STEPS;
        uint64_t window = window_at(viterbi, bits, before, first, here);
        for (unsigned g = 0; g < viterbi->count; g++)
            words[g] = coded_word(viterbi, window, g);
        for (size_t t = 0; t < here; t++)
            for (unsigned g = 0; g < viterbi->count; g++) {
                if (viterbi->kept[place])
                    *coded++ = words[g] >> t & 1;
                place = place + 1 == viterbi->period ? 0 : place + 1;
            }
        before = window >> here & ((1u << (viterbi->constraint - 1)) - 1);
    }
    return coded;
}

int penstock_viterbi_sent(size_t *count, const penstock_viterbi_desc *desc)
{
    struct penstock_problem problem;
    int status;
    if (!count)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_viterbi_sent: count is NULL");
    *count = 0;
    if (!(status = penstock__viterbi_problem(&problem, NULL, desc)))
        *count = problem.in_bytes / penstock__viterbi_soft_bytes(&problem.viterbi);
    return status;
}

int penstock_viterbi_encode(const penstock_viterbi_desc *desc, uint8_t *coded, const uint8_t *bits, size_t blocks)
{
    struct penstock_problem problem;
    int status = penstock__viterbi_problem(&problem, NULL, desc);
    if (status)
        return status;
    if (blocks && (!coded || !bits))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_viterbi_encode: bits or coded bits are NULL");
    if ((status = penstock__check_count(
             "penstock_viterbi_encode", blocks,
             penstock__viterbi_sent(&problem.viterbi,
                                    penstock__viterbi_steps(&problem.viterbi, problem.viterbi.bits)))))
        return status;
    for (size_t i = 0; i < blocks; i++)
        coded = encode(coded, &problem.viterbi, bits + i * problem.out_bytes);
    return PENSTOCK_OK;
}
