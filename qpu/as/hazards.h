/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The hazard checker. It knows what order instructions can be executed in (branches have three delay slots, a branch
 * may sit in the third slot of another, thrend has two slots), looks at each instruction, at each pair at most three
 * instructions apart, and at the queues of TMU and VPM along all ways. It reports what is wrong on every way; what
 * only some ways may do, and semaphores, which other QPUs release, are for the emulator to trap.
 *
 * Sources: VideoCoreIV-AG100-R, sections 3 and 4, and measurements on hardware by the author of vc4asm.
 */
#ifndef PENSTOCK_QPU_AS_HAZARDS_H
#define PENSTOCK_QPU_AS_HAZARDS_H

#include "internal.h"

struct qpu__write {
    uint8_t address;
    uint8_t condition; /* enum qpu_condition; of a conditional branch: QPU_IF_ZERO stands for any */
    bool file_a, mul;
};

/* An instruction as the rules see it. */
struct qpu__fact {
    struct qpu_instruction i;
    const struct qpu__origin *origin;
    bool data;
    struct qpu__write writes[2];
    int write_count;
    bool small; /* port B carries a small immediate */
};

struct qpu__fact qpu__fact_of(uint64_t word, const struct qpu__origin *origin);
bool qpu__uses(const struct qpu__fact *fact, unsigned mux);      /* by an ALU that does something */
bool qpu__reads(const struct qpu__fact *fact, unsigned address); /* either port: it counts without use */
bool qpu__writes(const struct qpu__fact *fact, unsigned first, unsigned last);
int qpu__count_writes(const struct qpu__fact *fact, unsigned first, unsigned last);
bool qpu__rotates(const struct qpu__fact *fact);
bool qpu__is_peripheral(unsigned waddr);
const char *qpu__write_name(const struct qpu__write *write, char text[16]);

/* An instruction on its way: after which branch's decision, and how many slots before it takes effect. */
enum { QPU__NO_BRANCH = -1, QPU__ENDING = -2, QPU__NO_NODE = -1 };
struct qpu__node {
    int index;           /* of the instruction */
    int branch, left;    /* pending: index of a branch, QPU__ENDING after thrend, or QPU__NO_BRANCH */
    int successors[2];   /* QPU__NO_NODE: unknown or none */
    int next_same_index; /* list of nodes for one instruction */
    bool unknown_entry;  /* also reached from where nobody knows */
};

struct qpu__flow {
    struct qpu__assembler *as;
    struct qpu__fact *facts;
    int count; /* of instructions */
    struct qpu__node *nodes;
    size_t node_count, node_capacity;
    int *first_node; /* per instruction */
};

bool qpu__build_flow(struct qpu__flow *flow); /* false without memory; reports QPU_RULE_RUNS_OFF */
void qpu__check_single(struct qpu__flow *flow);
void qpu__check_near(struct qpu__flow *flow);
void qpu__check_end(struct qpu__flow *flow);
void qpu__check_queues(struct qpu__flow *flow);

#endif
