/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Rules about two instructions executed one, two or three steps apart, on any way. */
#include "hazards.h"

struct pair {
    struct qpu__assembler *as;
    const struct qpu__fact *first, *second;
    int distance;
};

static int line_of(const struct qpu__fact *fact)
{
    return fact->origin->place->line;
}

static bool reads_register(const struct qpu__fact *fact, const struct qpu__write *write)
{
    const struct qpu_instruction *i = &fact->i;
    if (i->kind == QPU_BRANCH)
        return write->file_a && i->branch_register && i->branch_raddr == write->address;
    if (i->kind != QPU_ALU)
        return false;
    if (write->file_a)
        return i->raddr_a == write->address && qpu__uses(fact, QPU_MUX_A);
    return !fact->small && i->raddr_b == write->address && qpu__uses(fact, QPU_MUX_B);
}

static void register_latency(const struct pair *pair)
{
    char text[16];
    for (int w = 0; w < pair->first->write_count; w++) {
        const struct qpu__write *write = &pair->first->writes[w];
        if (write->address < QPU_WRITE_R0 && write->condition != QPU_NEVER && reads_register(pair->second, write))
            qpu__report(pair->as, pair->second->origin, QPU_RULE_REGISTER_LATENCY,
                        "%s is read right after its write in line %d: one instruction must be between",
                        qpu__write_name(write, text), line_of(pair->first));
    }
}

static void rotate_latency(const struct pair *pair)
{
    const struct qpu_instruction *i = &pair->second->i;
    if (!qpu__rotates(pair->second))
        return;
    for (int w = 0; w < pair->first->write_count; w++) {
        const struct qpu__write *write = &pair->first->writes[w];
        unsigned mux = write->address == QPU_WRITE_R5 ? QPU_MUX_R5 : write->address - QPU_WRITE_R0;
        bool accumulator =
            write->address == QPU_WRITE_R5 || (write->address >= QPU_WRITE_R0 && write->address <= QPU_WRITE_R3);
        bool source = i->mul_a == mux || i->mul_b == mux;
        bool amount = mux == QPU_MUX_R5 && i->raddr_b == QPU_ROTATE_BY_R5;
        if (accumulator && write->condition != QPU_NEVER && (source || amount))
            qpu__report(pair->as, pair->second->origin, QPU_RULE_ROTATE_LATENCY,
                        "%s r%u right after its write in line %d: one instruction must be between",
                        source ? "this rotates" : "this rotates by", mux, line_of(pair->first));
    }
}

static bool writes_r4(const struct qpu__fact *fact)
{
    unsigned signal = fact->i.signal;
    return (signal >= QPU_SIGNAL_LOAD_COVERAGE && signal <= QPU_SIGNAL_LOAD_ALPHA) ||
           qpu__writes(fact, QPU_WRITE_SFU_RECIP, QPU_WRITE_SFU_LOG);
}

static void sfu_latency(const struct pair *pair)
{
    if (!qpu__writes(pair->first, QPU_WRITE_SFU_RECIP, QPU_WRITE_SFU_LOG))
        return;
    if (qpu__uses(pair->second, QPU_MUX_R4))
        qpu__report(pair->as, pair->second->origin, QPU_RULE_SFU_LATENCY,
                    "r4 holds the result of line %d from the third instruction after it", line_of(pair->first));
    if (writes_r4(pair->second))
        qpu__report(pair->as, pair->second->origin, QPU_RULE_SFU_LATENCY,
                    "this writes r4 while the SFU works on line %d: two instructions must be between",
                    line_of(pair->first));
}

static void two_between(const struct pair *pair)
{
    const struct qpu__fact *first = pair->first, *second = pair->second;
    sfu_latency(pair);
    if (first->i.kind == QPU_BRANCH && second->i.kind == QPU_BRANCH)
        qpu__report(pair->as, second->origin, QPU_RULE_BRANCH_DISTANCE,
                    "two instructions must be between this branch and the one in line %d", line_of(first));
    if (qpu__writes(first, QPU_WRITE_UNIFORMS_ADDRESS, QPU_WRITE_UNIFORMS_ADDRESS) &&
        qpu__reads(second, QPU_READ_UNIFORM))
        qpu__report(pair->as, second->origin, QPU_RULE_UNIFORM_LATENCY,
                    "two instructions must be between a uniform and its address in line %d", line_of(first));
    if (qpu__writes(first, QPU_WRITE_TMU_NOSWAP, QPU_WRITE_TMU_NOSWAP) &&
        qpu__writes(second, QPU_WRITE_TMU0_S, QPU_WRITE_TMU1_B))
        qpu__report(pair->as, second->origin, QPU_RULE_NOSWAP_DISTANCE,
                    "two instructions must be between a TMU request and tmurs in line %d", line_of(first));
}

static bool sets_up_read(const struct qpu__fact *fact)
{
    for (int w = 0; w < fact->write_count; w++)
        if (fact->writes[w].address == QPU_WRITE_VPM_SETUP && fact->writes[w].file_a)
            return !(fact->i.kind == QPU_LOAD && fact->i.immediate >> 31); /* a load from memory is no access */
    return false;
}

static void check(const struct pair *pair)
{
    if (pair->distance == 1) {
        register_latency(pair);
        rotate_latency(pair);
    }
    if (pair->distance <= 2)
        two_between(pair);
    if (sets_up_read(pair->first) && qpu__reads(pair->second, QPU_READ_VPM))
        qpu__report(pair->as, pair->second->origin, QPU_RULE_VPM_LATENCY,
                    "three instructions should be between a VPM read and its set-up in line %d", line_of(pair->first));
}

static void walk(struct qpu__flow *flow, const struct qpu__fact *first, int node, int distance)
{
    for (int s = 0; s < 2; s++) {
        int next = flow->nodes[node].successors[s];
        if (next == QPU__NO_NODE)
            continue;
        struct pair pair = {flow->as, first, &flow->facts[flow->nodes[next].index], distance};
        check(&pair);
        if (distance < 3)
            walk(flow, first, next, distance + 1);
    }
}

void qpu__check_near(struct qpu__flow *flow)
{
    for (size_t n = 0; n < flow->node_count && !flow->as->stopped; n++) {
        const struct qpu__fact *first = &flow->facts[flow->nodes[n].index];
        if (first->write_count || first->i.kind == QPU_BRANCH)
            walk(flow, first, (int)n, 1);
    }
}
