/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Labels of a trellis, and how far apart its metrics can be.
 *
 * A branch adds, for each coded bit that it has as 0, the soft bit: so two branches of a step differ by at most 128 for
 * each bit in which their labels differ. Centred by half the sum of all, a branch adds at most 64 a generator either
 * way.
 *
 * Metrics of states. From a known start all states are reached after K - 1 steps. The path to state s differs from that
 * to state 0 in as many coded bits as the path from 0 to s has ones, where inputs before the last K - 1 are taken from
 * the other path: no metric is further from state 0's than 128 times the largest of these weights.
 *
 * Before that, a state that is not reached must not win against one that is. Where both meet, their inputs since the
 * start were the same, so that they differ by what zeros flush out of the wrong start. Every `together` steps, metrics
 * of states that are not reached are raised to `floor` below state 0's, lest they run out of 16 bits. At step t the
 * state that is reached by the same inputs is below state 0's metric by at most 128 times the weight of t inputs, and
 * the wrong bits that are still to be flushed make K - 1 - t steps. So a floor of more than 128 times the largest sum
 * of both weights lets what is not reached always lose.
 *
 * Between two points where state 0's metric is taken off, `together` steps add 64 count together at most. In 16 bits
 * with the lowest `together` for decisions there is room for
 *     floor + 64 count together < 2^(15 - together).
 * With two together that is so for all codes of K <= 9 and four generators: 128 * 32 + 1 + 512 < 8192.
 */
#include "fec/trellis.h"

static unsigned label(const struct penstock__trellis *trellis, unsigned state, unsigned input)
{
    unsigned value = 0, window = input << (trellis->constraint - 1) | state;
    for (unsigned g = 0; g < trellis->count; g++)
        value |= (unsigned)__builtin_parity(window & trellis->generators[g]) << g;
    return value;
}

/* Ones that `steps` inputs give from `state` on: those of the bits of `inputs`, the lowest first. */
static unsigned weight(const struct penstock__trellis *trellis, unsigned state, unsigned inputs, unsigned steps)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < steps; i++) {
        unsigned input = inputs >> i & 1;
        sum += (unsigned)__builtin_popcount(trellis->labels[2 * state + input]);
        state = state >> 1 | input << (trellis->constraint - 2);
    }
    return sum;
}

/* The largest weight of `steps` inputs from state 0 on, and of zeros from a state that has as many bits left. */
static unsigned most_entering(const struct penstock__trellis *trellis, unsigned steps)
{
    unsigned most = 0;
    for (unsigned inputs = 0; inputs < 1u << steps; inputs++) {
        unsigned here = weight(trellis, 0, inputs, steps);
        most = here > most ? here : most;
    }
    return most;
}

static unsigned most_leaving(const struct penstock__trellis *trellis, unsigned steps)
{
    unsigned most = 0;
    for (unsigned state = 0; state < 1u << steps; state++) {
        unsigned here = weight(trellis, state, 0, steps);
        most = here > most ? here : most;
    }
    return most;
}

static int floor_of(const struct penstock__trellis *trellis, unsigned together)
{
    unsigned memory = trellis->constraint - 1, most = most_entering(trellis, memory);
    for (unsigned t = 0; t < memory; t += together) {
        unsigned here = most_entering(trellis, t) + most_leaving(trellis, memory - t);
        most = here > most ? here : most;
    }
    return (int)(128 * most) + 1;
}

static void sort_generators(struct penstock__trellis *trellis, const unsigned *generators, unsigned inverted)
{
    for (unsigned g = 0; g < trellis->count; g++) {
        unsigned at = g;
        for (; at > 0 && trellis->generators[at - 1] > generators[g]; at--) {
            trellis->generators[at] = trellis->generators[at - 1];
            trellis->place[at] = trellis->place[at - 1];
            trellis->inverted[at] = trellis->inverted[at - 1];
        }
        trellis->generators[at] = generators[g];
        trellis->place[at] = g;
        trellis->inverted[at] = inverted >> g & 1;
    }
}

void penstock__trellis_init(struct penstock__trellis *trellis, const unsigned *generators, unsigned count,
                            unsigned constraint, unsigned inverted)
{
    *trellis = (struct penstock__trellis){.constraint = constraint, .count = count, .states = 1u << (constraint - 1)};
    sort_generators(trellis, generators, inverted);
    for (unsigned s = 0; s < trellis->states; s++)
        for (unsigned input = 0; input < 2; input++)
            trellis->labels[2 * s + input] = (uint8_t)label(trellis, s, input);
    trellis->together = 4;
    trellis->floor = floor_of(trellis, 4);
    if (trellis->floor + 64 * (int)count * 4 >= 1 << 11) {
        trellis->together = 2;
        trellis->floor = floor_of(trellis, 2);
    }
}
