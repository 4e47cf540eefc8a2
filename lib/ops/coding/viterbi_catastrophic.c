/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Catastrophic codes: a way through the trellis, which the puncturing makes one of states and phases, that is not in
 * state 0 and sends no 1 for ever. Nodes without a successor on such a way are taken out until none is left to be.
 * Where state 0 at any phase is a successor too, those stay from which zeros can be sent until then; a way out of state
 * 0 to such a one, and so back, sends what zeros do.
 */
#include "ops/coding/viterbi.h"

#include <string.h>

struct graph {
    const struct penstock_viterbi_problem *viterbi;
    unsigned states, phases;
    bool *left; /* by phase and state */
};

/* Whether a branch sends only zeros. */
static bool is_silent(const struct graph *graph, unsigned phase, unsigned window)
{
    const struct penstock_viterbi_problem *viterbi = graph->viterbi;
    for (unsigned g = 0; g < viterbi->count; g++)
        if (viterbi->kept[phase * viterbi->count + g] && __builtin_parity(window & viterbi->generators[g]))
            return false;
    return true;
}

static bool goes_on(const struct graph *graph, unsigned phase, unsigned state)
{
    unsigned next_phase = (phase + 1) % graph->phases;
    for (unsigned input = 0; input < 2; input++) {
        unsigned window = state | input * graph->states;
        if (graph->left[next_phase * graph->states + window / 2] && is_silent(graph, phase, window))
            return true;
    }
    return false;
}

/* Against time, so that a long way is gone in one round. True if something was taken out. */
static bool take_out(struct graph *graph)
{
    bool any = false;
    for (unsigned phase = graph->phases; phase--;)
        for (unsigned state = 1; state < graph->states; state++) {
            bool *left = &graph->left[phase * graph->states + state];
            if (*left && !goes_on(graph, phase, state)) {
                *left = false;
                any = true;
            }
        }
    return any;
}

int penstock__viterbi_is_catastrophic(bool *catastrophic, const struct penstock_viterbi_problem *viterbi)
{
    struct graph graph = {.viterbi = viterbi,
                          .states = 1u << (viterbi->constraint - 1),
                          .phases = (unsigned)(viterbi->period / viterbi->count)};
    size_t nodes = (size_t)graph.states * graph.phases;
    *catastrophic = false;
    if (!(graph.left = penstock__alloc(nodes * sizeof *graph.left)))
        return PENSTOCK_ERR_MEMORY;
    memset(graph.left, true, nodes * sizeof *graph.left);
    for (unsigned phase = 0; phase < graph.phases; phase++)
        graph.left[phase * graph.states] = false;
    while (take_out(&graph))
        ;
    for (size_t i = 0; i < nodes; i++)
        *catastrophic |= graph.left[i];
    memset(graph.left, true, nodes * sizeof *graph.left);
    while (take_out(&graph))
        ;
    for (unsigned phase = 0; phase < graph.phases; phase++)
        *catastrophic |= graph.left[(phase + 1) % graph.phases * graph.states + graph.states / 2] &&
                         is_silent(&graph, phase, graph.states);
    penstock__free(graph.left);
    return PENSTOCK_OK;
}
