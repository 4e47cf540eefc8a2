/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Rules that a single instruction word can break, whatever runs before and after it. */
#include "state.h"

struct write {
    unsigned address, condition;
    int file;
};

static bool is_accumulator(unsigned address)
{
    return (address >= QPU_WRITE_R0 && address <= QPU_WRITE_R3) || address == QPU_WRITE_R5;
}

static bool is_peripheral(unsigned address)
{
    return address >= 32 && address != QPU_WRITE_NOTHING && !is_accumulator(address);
}

static bool is_tlb(unsigned address)
{
    return address >= QPU_WRITE_TLB_STENCIL && address <= QPU_WRITE_TLB_ALPHA_MASK;
}

static bool complementary(unsigned a, unsigned b)
{
    return a >= QPU_IF_ZERO && b >= QPU_IF_ZERO && (a ^ b) == 1;
}

static void break_rule(struct operation *op, enum qpu_hazard hazard, uint32_t detail)
{
    if (op->hazard == QPU_HAZARD_NONE) {
        op->hazard = hazard;
        op->detail = detail;
    }
}

/* At most one use of TMU, SFU, mutex, semaphores and tile buffer in an instruction. */
static void check_units(struct operation *op, const struct write write[2])
{
    unsigned uses = op->loads_r4 + op->reads_mutex + (op->in.kind == QPU_SEMAPHORE);
    for (int i = 0; i < 2; i++) {
        unsigned address = write[i].address;
        bool slow = address >= QPU_WRITE_SFU_RECIP || is_tlb(address);
        if (write[i].condition == QPU_NEVER)
            continue;
        uses += slow || address == QPU_WRITE_MUTEX;
        if (op->in.kind == QPU_SEMAPHORE && slow)
            break_rule(op, QPU_HAZARD_SEMAPHORE_TARGET, address);
    }
    if (uses > 1)
        break_rule(op, QPU_HAZARD_PERIPHERALS, uses);
}

static void check_vpm(struct operation *op, const struct write write[2])
{
    unsigned setups = 0;
    for (int i = 0; i < 2; i++)
        setups += write[i].address == QPU_WRITE_VPM_SETUP && write[i].condition != QPU_NEVER;
    if (op->loads_r4 && (op->reads_vpm || op->writes_vpm))
        break_rule(op, QPU_HAZARD_TMU_WITH_VPM, 0);
    if (setups > 1 || (setups && (op->reads_vpm || op->writes_vpm)))
        break_rule(op, QPU_HAZARD_VPM_SETUP_WITH_ACCESS, 0);
}

static void check_writes(struct operation *op, const struct write write[2])
{
    const struct write *add = &write[0], *mul = &write[1];
    bool both = add->condition != QPU_NEVER && mul->condition != QPU_NEVER;
    bool split = add->address == QPU_WRITE_VPM_SETUP || add->address == QPU_WRITE_VPM_ADDRESS;
    if (both && add->address == mul->address && add->address >= 32 && add->address != QPU_WRITE_NOTHING && !split)
        if (!is_accumulator(add->address) || !complementary(add->condition, mul->condition))
            break_rule(op, QPU_HAZARD_SAME_REGISTER, add->address);
    for (int i = 0; i < 2; i++) {
        if (is_peripheral(write[i].address) && write[i].condition != QPU_ALWAYS)
            break_rule(op, QPU_HAZARD_CONDITIONAL_PERIPHERAL, write[i].address);
        if (write[i].condition == QPU_NEVER)
            continue;
        if (is_tlb(write[i].address) || write[i].address == QPU_WRITE_QUAD_X_OR_Y ||
            write[i].address == QPU_WRITE_MS_OR_REV)
            break_rule(op, QPU_HAZARD_UNSUPPORTED, write[i].address);
        if (write[i].address >= QPU_WRITE_TMU0_T && write[i].address != QPU_WRITE_TMU1_S)
            break_rule(op, QPU_HAZARD_UNSUPPORTED, write[i].address);
    }
}

static void check_pack(struct operation *op, const struct write write[2])
{
    const struct qpu_instruction *in = &op->in;
    const struct write *packed = &write[in->pack_mode || in->write_swap ? 1 : 0];
    if (in->kind == QPU_BRANCH || !in->pack || packed->condition == QPU_NEVER)
        return;
    if (in->pack_mode && (in->pack < 3 || in->pack > 7))
        break_rule(op, QPU_HAZARD_RESERVED, in->pack);
    if (qpu_emu__pack_is_partial(in->pack, in->pack_mode) &&
        (is_peripheral(packed->address) || (is_accumulator(packed->address) && !in->pack_mode)))
        break_rule(op, QPU_HAZARD_PACK_TARGET, packed->address);
}

static bool read_is_defined(unsigned address)
{
    return address < 32 || address == QPU_READ_UNIFORM || address == QPU_READ_ELEMENT_OR_QPU ||
           address == QPU_READ_NOTHING || (address >= QPU_READ_VPM && address <= QPU_READ_MUTEX) ||
           address == QPU_READ_X_OR_Y || address == QPU_READ_MS_OR_REV;
}

static void check_alu(struct operation *op, const struct write write[2])
{
    const struct qpu_instruction *in = &op->in;
    if (!qpu_add_op_name(in->op_add))
        break_rule(op, QPU_HAZARD_RESERVED, in->op_add);
    if (op->port_a == QPU_READ_VARYING || op->port_b == QPU_READ_VARYING)
        break_rule(op, QPU_HAZARD_UNSUPPORTED, QPU_READ_VARYING);
    if (!read_is_defined(op->port_a))
        break_rule(op, QPU_HAZARD_RESERVED, op->port_a);
    if (!read_is_defined(op->port_b))
        break_rule(op, QPU_HAZARD_RESERVED, op->port_b);
    if (op->reads_a && op->port_a == QPU_READ_NOTHING)
        break_rule(op, QPU_HAZARD_NOTHING_READ, 0);
    if (op->reads_b && op->port_b == QPU_READ_NOTHING && in->signal != QPU_SIGNAL_SMALL_IMMEDIATE)
        break_rule(op, QPU_HAZARD_NOTHING_READ, 1);
    if ((in->op_add == QPU_ADD_NOP && write[0].condition != QPU_NEVER && write[0].address != QPU_WRITE_NOTHING) ||
        (in->op_mul == QPU_MUL_NOP && write[1].condition != QPU_NEVER && write[1].address != QPU_WRITE_NOTHING))
        break_rule(op, QPU_HAZARD_NOTHING_WRITTEN, 0);
}

static void check_signal(struct operation *op)
{
    switch (op->in.signal) {
    case QPU_SIGNAL_NONE:
    case QPU_SIGNAL_END:
    case QPU_SIGNAL_LOAD_TMU0:
    case QPU_SIGNAL_LOAD_TMU1:
    case QPU_SIGNAL_SMALL_IMMEDIATE:
    case QPU_SIGNAL_LOAD_IMMEDIATE:
    case QPU_SIGNAL_BRANCH:
        break;
    default:
        break_rule(op, QPU_HAZARD_UNSUPPORTED, op->in.signal);
    }
}

void qpu_emu__find_rules(struct operation *op)
{
    const struct qpu_instruction *in = &op->in;
    bool branch = in->kind == QPU_BRANCH;
    struct write write[2] = {{in->waddr_add, branch ? QPU_ALWAYS : in->condition_add, in->write_swap ? 1 : 0},
                             {in->waddr_mul, branch ? QPU_ALWAYS : in->condition_mul, in->write_swap ? 0 : 1}};
    if (in->kind == QPU_RESERVED)
        break_rule(op, QPU_HAZARD_RESERVED, in->unpack);
    if (branch && (in->branch_unused || !qpu_branch_condition_name(in->branch_condition)))
        break_rule(op, QPU_HAZARD_RESERVED, in->branch_condition);
    check_signal(op);
    if (in->kind == QPU_ALU)
        check_alu(op, write);
    check_units(op, write);
    check_vpm(op, write);
    check_writes(op, write);
    check_pack(op, write);
    if (in->signal == QPU_SIGNAL_END && op->writes_file)
        break_rule(op, QPU_HAZARD_END_WRITES_FILE, 0);
}
