/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Queues along all ways: how many TMU requests and VPM vectors are outstanding, as the least and the most that the
 * ways to an instruction leave. What is wrong even for the better end is an error.
 */
#include "hazards.h"

enum { TMU0, TMU1, VPM, QUEUES };
enum { MOST_REQUESTS = 4, MOST_COUNTED = 32 };

struct range {
    uint8_t least, most;
};

struct state {
    struct range queues[QUEUES];
    bool reached;
};

static void add(struct range *range, int least, int most)
{
    int low = range->least + least, high = range->most + most;
    range->least = (uint8_t)(low < 0 ? 0 : low > MOST_COUNTED ? MOST_COUNTED : low);
    range->most = (uint8_t)(high < 0 ? 0 : high > MOST_COUNTED ? MOST_COUNTED : high);
}

static void tmu(struct qpu__assembler *as, const struct qpu__fact *fact, int unit, struct range *range, bool report)
{
    unsigned request = unit == TMU0 ? QPU_WRITE_TMU0_S : QPU_WRITE_TMU1_S;
    unsigned load = unit == TMU0 ? QPU_SIGNAL_LOAD_TMU0 : QPU_SIGNAL_LOAD_TMU1;
    if (fact->i.signal == load) {
        if (report && !range->most)
            qpu__report(as, fact->origin, QPU_RULE_TMU_QUEUE,
                        "ldtmu%d without a request in flight: this waits for ever", unit);
        add(range, -1, -1);
    }
    if (qpu__writes(fact, request, request)) {
        if (report && range->least >= MOST_REQUESTS)
            qpu__report(as, fact->origin, QPU_RULE_TMU_QUEUE,
                        "a fifth request in flight in TMU%d: more than four are not reliable", unit);
        add(range, 1, 1);
    }
}

/* A set-up from a register may be for any number of vectors, or for a load from memory. */
static void vpm(struct qpu__assembler *as, const struct qpu__fact *fact, struct range *range, bool report)
{
    if (qpu__reads(fact, QPU_READ_VPM)) {
        if (report && !range->most)
            qpu__report(as, fact->origin, QPU_RULE_VPM_SETUP, "a VPM read without a set-up for it");
        add(range, -1, -1);
    }
    for (int w = 0; w < fact->write_count; w++) {
        if (fact->writes[w].address != QPU_WRITE_VPM_SETUP || !fact->writes[w].file_a)
            continue;
        bool known = fact->i.kind == QPU_LOAD;
        int vectors = known ? (int)(fact->i.immediate >> 20 & 15) : 0;
        if (known && fact->i.immediate >> 30)
            return;
        if (known && report && range->least > 1)
            qpu__report(as, fact->origin, QPU_RULE_VPM_SETUP,
                        "a second set-up while %d vectors are to be read: it is ignored", range->least);
        if (known)
            add(range, vectors ? vectors : 16, vectors ? vectors : 16);
        else
            add(range, 0, 16);
    }
}

static void step(struct qpu__flow *flow, const struct qpu__node *node, struct state *state, bool report)
{
    const struct qpu__fact *fact = &flow->facts[node->index];
    tmu(flow->as, fact, TMU0, &state->queues[TMU0], report);
    tmu(flow->as, fact, TMU1, &state->queues[TMU1], report);
    vpm(flow->as, fact, &state->queues[VPM], report);
    if (!report || node->branch != QPU__ENDING || node->left != 1)
        return;
    for (int q = 0; q < QUEUES; q++)
        if (state->queues[q].least)
            qpu__report(flow->as, fact->origin, QPU_RULE_PENDING_END, "the program ends with %d %s outstanding",
                        state->queues[q].least,
                        q == VPM    ? "VPM reads"
                        : q == TMU0 ? "TMU0 loads"
                                    : "TMU1 loads");
}

static bool join(struct state *into, const struct state *from)
{
    bool changed = !into->reached;
    if (!into->reached) {
        *into = *from;
        into->reached = true;
        return true;
    }
    for (int q = 0; q < QUEUES; q++) {
        struct range *a = &into->queues[q];
        const struct range *b = &from->queues[q];
        changed |= b->least < a->least || b->most > a->most;
        a->least = b->least < a->least ? b->least : a->least;
        a->most = b->most > a->most ? b->most : a->most;
    }
    return changed;
}

void qpu__check_queues(struct qpu__flow *flow)
{
    static const struct state empty;
    static const struct state anything = {.queues = {{0, MOST_COUNTED}, {0, MOST_COUNTED}, {0, MOST_COUNTED}}};
    size_t count = flow->node_count, used = 0;
    struct state *states = qpu__alloc(&flow->as->arena, count * sizeof *states);
    int *stack = qpu__alloc(&flow->as->arena, count * sizeof *stack);
    bool *waiting = qpu__alloc(&flow->as->arena, count);
    if (!states || !stack || !waiting)
        return;
    for (size_t n = 0; n < count; n++) {
        const struct qpu__node *node = &flow->nodes[n];
        bool start = node->index == 0 && node->branch == QPU__NO_BRANCH;
        bool changed = start && join(&states[n], &empty);
        if (node->unknown_entry)
            changed |= join(&states[n], &anything);
        if (changed) {
            stack[used++] = (int)n;
            waiting[n] = true;
        }
    }
    while (used) {
        int n = stack[--used];
        struct state after = states[n];
        waiting[n] = false;
        step(flow, &flow->nodes[n], &after, false);
        for (int s = 0; s < 2; s++) {
            int next = flow->nodes[n].successors[s];
            if (next != QPU__NO_NODE && join(&states[next], &after) && !waiting[next]) {
                stack[used++] = next;
                waiting[next] = true;
            }
        }
    }
    for (size_t n = 0; n < count; n++) {
        struct state state = states[n];
        if (state.reached)
            step(flow, &flow->nodes[n], &state, true);
    }
}
