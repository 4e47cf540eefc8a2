/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What theory says of a code's bit errors. */
#include "fec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 256, MOST_STEPS = 400 };

/* Of the ways that are under way: how many there are, and the ones among their inputs, by state and weight. */
struct ways {
    double count[MOST_STATES][FEC_MOST_WEIGHT], ones[MOST_STATES][FEC_MOST_WEIGHT];
};

struct code {
    const penstock_viterbi_desc *desc;
    unsigned constraint, generators;
    size_t period;
};

static unsigned weight(const struct code *code, size_t step, unsigned window)
{
    unsigned sum = 0;
    for (unsigned g = 0; g < code->generators; g++) {
        size_t place = (step * code->generators + g) % code->period;
        if (!code->desc->puncture || code->desc->puncture[place] == '1')
            sum += (unsigned)__builtin_parity(window & code->desc->generators[g]);
    }
    return sum;
}

/* One step on; ways that come to state 0 are over and go to `bit_weights`. True while there are others. */
static bool step(const struct code *code, size_t at, struct ways *to, const struct ways *from, double *bit_weights)
{
    const unsigned states = 1u << (code->constraint - 1);
    bool any = false;
    memset(to, 0, sizeof *to);
    for (unsigned state = 1; state < states; state++)
        for (unsigned input = 0; input < 2; input++) {
            unsigned window = state | input * states, more = weight(code, at, window), next = window >> 1;
            for (unsigned w = 0; w + more < FEC_MOST_WEIGHT; w++) {
                double ones = from->ones[state][w] + input * from->count[state][w];
                if (from->count[state][w] == 0)
                    continue;
                if (next) {
                    to->count[next][w + more] += from->count[state][w];
                    to->ones[next][w + more] += ones;
                    any = true;
                } else {
                    bit_weights[w + more] += ones;
                }
            }
        }
    return any;
}

static void add_phase(const struct code *code, size_t phase, struct ways ways[2], double *bit_weights)
{
    const unsigned first = 1u << (code->constraint - 1), more = weight(code, phase, first);
    memset(&ways[0], 0, sizeof ways[0]);
    ways[0].count[first >> 1][more] = ways[0].ones[first >> 1][more] = 1;
    for (size_t t = 1; t < MOST_STEPS; t++)
        if (!step(code, phase + t, &ways[t % 2], &ways[(t + 1) % 2], bit_weights))
            return;
}

int fec_weights(double bit_weights[FEC_MOST_WEIGHT], const penstock_viterbi_desc *desc)
{
    struct code code = {.desc = desc, .constraint = desc->constraint};
    struct ways *ways = calloc(2, sizeof *ways);
    memset(bit_weights, 0, FEC_MOST_WEIGHT * sizeof *bit_weights);
    if (!ways)
        return fail(EXIT_DATA, "out of memory");
    while (code.generators < PENSTOCK_MAX_GENERATORS && desc->generators[code.generators])
        code.generators++;
    for (unsigned g = 0; g < code.generators; g++)
        for (unsigned k = code.constraint; desc->generators[g] >> k; k++)
            code.constraint = k + 1;
    code.period = desc->puncture ? strlen(desc->puncture) : code.generators;
    for (size_t phase = 0; phase < code.period / code.generators; phase++)
        add_phase(&code, phase, ways, bit_weights);
    for (unsigned w = 0; w < FEC_MOST_WEIGHT; w++)
        bit_weights[w] /= (double)(code.period / code.generators);
    free(ways);
    return EXIT_DONE;
}

static double wrong(double ebn0, double distance)
{
    return 0.5 * erfc(sqrt(distance * ebn0));
}

double fec_bound(const double bit_weights[FEC_MOST_WEIGHT], double rate, double ebn0_db)
{
    double sum = 0;
    for (unsigned w = 1; w < FEC_MOST_WEIGHT; w++)
        sum += bit_weights[w] * wrong(pow(10, ebn0_db / 10), w * rate);
    return sum;
}

double fec_uncoded(double ebn0_db)
{
    return wrong(pow(10, ebn0_db / 10), 1);
}
