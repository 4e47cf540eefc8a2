/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The order of execution: nodes are instructions with the branch that is under way while they execute. */
#include "hazards.h"

enum { BRANCH_SLOTS = 3, END_SLOTS = 2 };

static bool is_branch(const struct qpu__flow *flow, int index)
{
    return flow->facts[index].i.kind == QPU_BRANCH && !flow->facts[index].data;
}

/* The node, made if it is not there; QPU__NO_NODE where execution leaves the program, or without memory. */
static int node_at(struct qpu__flow *flow, int from, int64_t index, int branch, int left)
{
    if (index < 0 || index >= flow->count || flow->facts[index].data) {
        if (branch == QPU__ENDING)
            qpu__report(flow->as, flow->facts[from].origin, QPU_RULE_THREAD_END,
                        "two instructions must follow the one with thrend");
        else
            qpu__report(flow->as, flow->facts[from].origin, QPU_RULE_RUNS_OFF, "execution goes on %s after this",
                        index >= 0 && index < flow->count ? "in data" : "outside of the program");
        return QPU__NO_NODE;
    }
    for (int n = flow->first_node[index]; n != QPU__NO_NODE; n = flow->nodes[n].next_same_index)
        if (flow->nodes[n].branch == branch && flow->nodes[n].left == left)
            return n;
    void *grown = qpu__grow(&flow->as->arena, flow->nodes, flow->node_count, &flow->node_capacity, sizeof *flow->nodes);
    if (!grown)
        return QPU__NO_NODE;
    flow->nodes = grown;
    int n = (int)flow->node_count++;
    flow->nodes[n] = (struct qpu__node){.index = (int)index,
                                        .branch = branch,
                                        .left = left,
                                        .successors = {QPU__NO_NODE, QPU__NO_NODE},
                                        .next_same_index = flow->first_node[index]};
    flow->first_node[index] = n;
    return n;
}

/* Where the branch goes, if that is known without its registers. */
static bool target_of(const struct qpu__flow *flow, int branch, int64_t *target)
{
    const struct qpu_instruction *i = &flow->facts[branch].i;
    int64_t bytes = (int64_t)branch * 8 + 32 + (int32_t)i->immediate;
    if (!i->branch_relative || i->branch_register)
        return false;
    *target = bytes % 8 ? -1 : bytes / 8;
    return true;
}

/* Nodes after node n. It is read anew after each node_at(), which may move the nodes. */
static void connect(struct qpu__flow *flow, int n)
{
    struct qpu__node node = flow->nodes[n];
    int64_t next = node.index + 1;
    if (node.branch != QPU__NO_BRANCH && node.left > 1) {
        int successor = node_at(flow, node.index, next, node.branch, node.left - 1);
        flow->nodes[n].successors[0] = successor;
        return;
    }
    if (node.branch == QPU__ENDING)
        return;
    if (node.branch >= 0 && !target_of(flow, node.branch, &next))
        return;
    int from = node.branch >= 0 && !is_branch(flow, node.index) ? node.branch : node.index;
    int successors[2] = {QPU__NO_NODE, QPU__NO_NODE};
    bool branches = is_branch(flow, node.index);
    bool ends = !branches && flow->facts[node.index].i.signal == QPU_SIGNAL_END;
    if (branches)
        successors[0] = node_at(flow, from, next, node.index, BRANCH_SLOTS);
    else if (ends)
        successors[0] = node_at(flow, from, next, QPU__ENDING, END_SLOTS);
    if (!ends && (!branches || flow->facts[node.index].i.branch_condition != QPU_BRANCH_ALWAYS))
        successors[1] = node_at(flow, from, next, QPU__NO_BRANCH, 0);
    flow->nodes[n].successors[0] = successors[0];
    flow->nodes[n].successors[1] = successors[1];
}

static void enter(struct qpu__flow *flow, size_t *done, int index, bool unknown)
{
    int n = node_at(flow, index, index, QPU__NO_BRANCH, 0);
    if (n == QPU__NO_NODE)
        return;
    flow->nodes[n].unknown_entry |= unknown;
    while (*done < flow->node_count && !flow->as->arena.exhausted)
        connect(flow, (int)(*done)++);
}

/* Of the filling of .align, say: nobody enters a program there. */
static bool is_plain_nop(const struct qpu__fact *fact)
{
    return fact->i.kind == QPU_ALU && !fact->i.op_add && !fact->i.op_mul && fact->i.signal == QPU_SIGNAL_NONE;
}

/* Entries: the first instruction; behind a branch that leaves a link, where its subroutine returns; the rest. */
bool qpu__build_flow(struct qpu__flow *flow)
{
    size_t done = 0;
    flow->first_node = qpu__alloc(&flow->as->arena, (size_t)flow->count * sizeof *flow->first_node);
    if (!flow->first_node)
        return false;
    for (int i = 0; i < flow->count; i++)
        flow->first_node[i] = QPU__NO_NODE;
    if (!flow->facts[0].data)
        enter(flow, &done, 0, false);
    for (int i = 0; i + 4 < flow->count; i++)
        if (is_branch(flow, i) && flow->facts[i].write_count && !flow->facts[i + 4].data)
            enter(flow, &done, i + 4, true);
    for (int i = 0; i < flow->count; i++)
        if (flow->first_node[i] == QPU__NO_NODE && !flow->facts[i].data && !is_plain_nop(&flow->facts[i]))
            enter(flow, &done, i, true);
    return !flow->as->arena.exhausted;
}
