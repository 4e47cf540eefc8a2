/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The trellis of a convolutional code of 1 to 4 generators and constraint length K, 3 to 9.
 *
 * A state is the last K - 1 input bits, the newest in the highest of K - 1 bits, so that with the input as bit K - 1
 * a generator's bit is the parity of what the generator, written in octal as usual, leaves of the register. States 2 j
 * and 2 j + 1 lead to j (input 0) and j + S / 2 (input 1), S being the number of states. A branch's label has bit g set
 * where generator g gives 1.
 */
#ifndef PENSTOCK_FEC_TRELLIS_H
#define PENSTOCK_FEC_TRELLIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PENSTOCK__TRELLIS_MOST_STATES 256
#define PENSTOCK__TRELLIS_MOST_LABELS 16

struct penstock__trellis {
    unsigned constraint, count; /* K, and generators */
    unsigned states;            /* 2^(K - 1) */
    unsigned generators[4];     /* in ascending order */
    unsigned place[4];          /* of each of these among the coded bits of a step */
    bool inverted[4];           /* likewise */
    unsigned together;          /* steps whose decisions a metric carries: 4 or 2 */
    int floor; /* metrics less than this below that of state zero are of states that a known start does not reach */
    uint8_t labels[2 * PENSTOCK__TRELLIS_MOST_STATES]; /* of state s and input u at 2 s + u */
};

/* `generators`: the highest of K bits weighs the newest input; `inverted` has bit g set where generator g's bit is sent
 * inverted. The caller has checked the ranges. */
void penstock__trellis_init(struct penstock__trellis *trellis, const unsigned *generators, unsigned count,
                            unsigned constraint, unsigned inverted);

#endif
