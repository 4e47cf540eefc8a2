/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The code's shift register and the Viterbi algorithm with whole numbers of 64 bits, as the textbook has them, and with
 * the rule for ties of include/penstock/fec.h: what decoders of convolutional codes are compared with.
 */
#ifndef PENSTOCK_TEST_VITERBI_PLAIN_H
#define PENSTOCK_TEST_VITERBI_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct plain_code {
    unsigned generators[4], count, constraint, inverted;
};

/* The coded bits of a step; `past` holds the last K - 1 inputs, the newest in bit 0. */
static inline void plain_encode_step(const struct plain_code *code, unsigned *past, unsigned bit, uint8_t *coded)
{
    for (unsigned g = 0; g < code->count; g++) {
        coded[g] = code->inverted >> g & 1;
        for (unsigned age = 0; age < code->constraint; age++)
            if (code->generators[g] >> (code->constraint - 1 - age) & 1)
                coded[g] ^= age ? *past >> (age - 1) & 1 : bit;
    }
    *past = (*past << 1 | bit) & ((1u << (code->constraint - 1)) - 1);
}

/* One bit a byte, `steps` of them; false for want of memory. */
static inline bool plain_decode(const struct plain_code *code, uint8_t *bits, const int8_t *soft, size_t steps,
                                bool start_zero, bool end_zero)
{
    const unsigned memory = code->constraint - 1, states = 1u << memory;
    const int64_t never = -((int64_t)1 << 60);
    int64_t now[256], next[256];
    uint8_t *came = malloc(steps * states);
    unsigned best = 0;
    if (!came)
        return false;
    for (unsigned s = 0; s < states; s++)
        now[s] = s && start_zero ? never : 0;
    for (size_t t = 0; t < steps; t++) {
        for (unsigned s = 0; s < states; s++)
            next[s] = never * 2;
        for (unsigned oldest = 0; oldest < 2; oldest++) /* at a tie the first stays: 0 */
            for (unsigned rest = 0; rest < states / 2; rest++)
                for (unsigned bit = 0; bit < 2; bit++) {
                    unsigned from = oldest << (memory - 1) | rest, to = from;
                    uint8_t coded[4];
                    int64_t metric = now[from];
                    plain_encode_step(code, &to, bit, coded);
                    for (unsigned g = 0; g < code->count; g++)
                        metric += coded[g] ? -soft[t * code->count + g] : soft[t * code->count + g];
                    if (metric > next[to]) {
                        next[to] = metric;
                        came[t * states + to] = (uint8_t)oldest;
                    }
                }
        for (unsigned s = 0; s < states; s++)
            now[s] = next[s];
    }
    for (unsigned s = 1; s < states && !end_zero; s++) /* the highest bit is the oldest, so the lowest number wins */
        best = now[s] > now[best] ? s : best;
    for (size_t t = steps; t--;) {
        bits[t] = best & 1;
        best = best >> 1 | (unsigned)came[t * states + best] << (memory - 1);
    }
    free(came);
    return true;
}

#endif
