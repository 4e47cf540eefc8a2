/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The way back through the decisions, of several lanes side by side. */
#ifndef PENSTOCK_FEC_VITERBI_LANES_BACK_H
#define PENSTOCK_FEC_VITERBI_LANES_BACK_H

#include "fec/viterbi_lanes_steps.h"

/* Over one word of decisions: the inputs of its steps, the oldest lowest. */
INLINE unsigned step_back(unsigned *state, const vec *history, unsigned lane, unsigned constraint, unsigned together)
{
    const unsigned memory = constraint - 1, states = 1u << memory, mask = (1u << together) - 1;
    uint16_t word;
    unsigned x;
    memcpy(&word, (const char *)&history[*state & (states / 4 - 1)] + 2 * (size_t)lane, sizeof word);
    x = *state << together | ((~(unsigned)word >> 4 * (*state >> (memory - 2))) & mask);
    *state = x & (states - 1);
    return x >> memory;
}

static void put_bits(uint8_t *packed, size_t at, uint32_t bits, unsigned count)
{
    for (unsigned i = 0; i < count; i++, at++)
        packed[at / 8] |= (uint8_t)((bits >> i & 1) << at % 8);
}

/* Lanes first .. first + many - 1, so that one does not wait for the other, over the GROUP steps from block k on. */
INLINE void trace_group(struct run *r, struct ending *ends, const struct penstock__viterbi_block *blocks,
                        unsigned first, unsigned many, size_t k, unsigned constraint, unsigned together)
{
    const unsigned words = GROUP / together;
    const size_t pitch = r->t->states / 4;
    const vec *history = r->w->history + (k + words) * pitch;
    unsigned state[TOGETHER];
    uint32_t bits[TOGETHER] = {0};
    EACH(i, many) state[i] = ends[first + i].state;
    for (unsigned left = words; left--;) {
        history -= pitch;
        EACH(i, many) bits[i] = bits[i] << together | step_back(&state[i], history, first + i, constraint, together);
    }
    EACH(i, many)
    {
        uint8_t *out = blocks[first + i].packed + k * together / 8;
        out[0] = (uint8_t)bits[i];
        out[1] = (uint8_t)(bits[i] >> 8);
        out[2] = (uint8_t)(bits[i] >> 16);
        ends[first + i].state = state[i];
    }
}

/* Lanes first .. end - 1. */
INLINE void trace_some(struct run *r, struct ending *ends, const struct penstock__viterbi_block *blocks, unsigned first,
                       unsigned end, size_t k, unsigned constraint, unsigned together)
{
    for (; first + TOGETHER <= end; first += TOGETHER)
        trace_group(r, ends, blocks, first, TOGETHER, k, constraint, together);
    for (; first < end; first++)
        trace_group(r, ends, blocks, first, 1, k, constraint, together);
}

static void trace_lanes(struct run *r, struct ending *ends, const struct penstock__viterbi_block *blocks,
                        unsigned first, unsigned end, size_t group)
{
    const unsigned together = r->t->together;
    const size_t k = group * (GROUP / together);
    if (r->t->constraint == 7 && together == 4)
        trace_some(r, ends, blocks, first, end, k, 7, 4);
    else
        trace_some(r, ends, blocks, first, end, k, r->t->constraint, together);
}

/* A lane's words from the last one back to a whole number of groups, bit by bit. */
static void trace_rest(struct run *r, struct ending *end, const struct penstock__viterbi_block *block, unsigned lane)
{
    const struct penstock__trellis *t = r->t;
    const size_t whole = block->steps / t->together, groups = block->steps / GROUP;
    const size_t pitch = t->states / 4, first = groups * (GROUP / t->together);
    memset(block->packed + groups * (GROUP / 8), 0, (block->steps + 7) / 8 - groups * (GROUP / 8));
    put_bits(block->packed, whole * t->together, end->bits, end->count);
    for (size_t k = whole; k-- > first;)
        put_bits(block->packed, k * t->together,
                 step_back(&end->state, r->w->history + k * pitch, lane, t->constraint, t->together), t->together);
}

#endif
