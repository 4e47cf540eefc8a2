/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What an instruction word tells before it executes: the registers it touches, the units it uses. */
#include <string.h>

#include "state.h"

static bool is_tmu(unsigned address)
{
    return address >= QPU_WRITE_TMU0_S;
}

static bool is_sfu(unsigned address)
{
    return address >= QPU_WRITE_SFU_RECIP && address <= QPU_WRITE_SFU_LOG;
}

static void fill(struct qpu_lanes *lanes, uint32_t value)
{
    for (int i = 0; i < QPU_LANES; i++)
        lanes->v[i] = value;
}

/* Two bits an element: the lower half word holds their low bits, the upper half word the high ones. */
static void fill_elements(struct qpu_lanes *lanes, uint32_t bits, bool is_signed)
{
    for (int i = 0; i < QPU_LANES; i++) {
        uint32_t low = bits >> i & 1, high = bits >> (16 + i) & 1;
        lanes->v[i] = is_signed ? low - 2 * high : low + 2 * high;
    }
}

static void note_input(struct operation *op, unsigned mux)
{
    op->reads_a |= mux == QPU_MUX_A;
    op->reads_b |= mux == QPU_MUX_B;
    op->reads_r4 |= mux == QPU_MUX_R4;
}

static void note_inputs(struct operation *op)
{
    const struct qpu_instruction *in = &op->in;
    if (in->op_add != QPU_ADD_NOP) {
        note_input(op, in->add_a);
        if (!qpu_emu__add_is_unary(in->op_add))
            note_input(op, in->add_b);
    }
    if (in->op_mul != QPU_MUL_NOP) {
        note_input(op, in->mul_a);
        note_input(op, in->mul_b);
    }
}

static void note_small_immediate(struct operation *op)
{
    const struct qpu_instruction *in = &op->in;
    if (in->signal != QPU_SIGNAL_SMALL_IMMEDIATE)
        return;
    op->port_b = QPU_READ_NOTHING;
    fill(&op->immediate, qpu_small_immediate_value(in->raddr_b));
    op->rotates = in->raddr_b >= QPU_ROTATE_BASE && in->op_mul != QPU_MUL_NOP;
    op->full_rotate = in->mul_a <= QPU_MUX_R3 && in->mul_b <= QPU_MUX_R3;
    if (op->rotates) {
        op->rotate_sources = (uint8_t)(1u << in->mul_a | 1u << in->mul_b);
        op->rotate_sources &=
            1u << QPU_MUX_R0 | 1u << QPU_MUX_R1 | 1u << QPU_MUX_R2 | 1u << QPU_MUX_R3 | 1u << QPU_MUX_R5;
        if (in->raddr_b == QPU_ROTATE_BY_R5)
            op->rotate_sources |= 1u << QPU_MUX_R5;
    }
}

static void note_read(struct operation *op, unsigned address)
{
    op->uniform |= address == QPU_READ_UNIFORM;
    op->reads_vpm |= address == QPU_READ_VPM;
    op->reads_mutex |= address == QPU_READ_MUTEX;
    op->peripheral |= address == QPU_READ_UNIFORM || address == QPU_READ_VARYING ||
                      (address >= QPU_READ_VPM && address <= QPU_READ_VPM_WAIT);
    op->address_14 |= address == 14;
    op->may_wait |= address >= QPU_READ_VPM && address <= QPU_READ_MUTEX;
}

static void note_write(struct operation *op, unsigned address, unsigned condition)
{
    if (condition == QPU_NEVER)
        return;
    op->writes_vpm |= address == QPU_WRITE_VPM;
    op->writes_tmu |= is_tmu(address);
    op->writes_sfu |= is_sfu(address);
    op->writes_file |= address < 32;
    op->address_14 |= address == 14;
    op->peripheral |=
        address == QPU_WRITE_UNIFORMS_ADDRESS || (address >= QPU_WRITE_VPM && address <= QPU_WRITE_VPM_ADDRESS);
    op->may_wait |= is_tmu(address) || address == QPU_WRITE_VPM_ADDRESS;
}

static bool is_conditional(unsigned condition)
{
    return condition != QPU_NEVER && condition != QPU_ALWAYS;
}

void qpu_emu__prepare(struct operation *op, uint64_t word)
{
    const struct qpu_instruction *in = &op->in;
    memset(op, 0, sizeof *op);
    op->valid = true;
    op->word = word;
    op->in = qpu_decode(word);
    op->port_a = op->port_b = QPU_READ_NOTHING;
    switch (in->kind) {
    case QPU_ALU:
        op->port_a = in->raddr_a;
        op->port_b = in->raddr_b;
        note_inputs(op);
        note_small_immediate(op);
        break;
    case QPU_BRANCH:
        op->reads_a = in->branch_register;
        op->port_a = in->branch_register ? in->branch_raddr : QPU_READ_NOTHING;
        break;
    case QPU_LOAD_SIGNED:
    case QPU_LOAD_UNSIGNED:
        fill_elements(&op->immediate, in->immediate, in->kind == QPU_LOAD_SIGNED);
        break;
    default:
        fill(&op->immediate, in->immediate);
    }
    note_read(op, op->port_a);
    note_read(op, op->port_b);
    if (in->kind == QPU_BRANCH) {
        note_write(op, in->waddr_add, QPU_ALWAYS);
        note_write(op, in->waddr_mul, QPU_ALWAYS);
        op->reads_flags = in->branch_condition != QPU_BRANCH_ALWAYS;
    } else {
        note_write(op, in->waddr_add, in->condition_add);
        note_write(op, in->waddr_mul, in->condition_mul);
        op->reads_flags = is_conditional(in->condition_add) || is_conditional(in->condition_mul);
        op->loads_r4 = in->signal == QPU_SIGNAL_LOAD_TMU0 || in->signal == QPU_SIGNAL_LOAD_TMU1;
    }
    op->may_wait |= op->loads_r4 || in->kind == QPU_SEMAPHORE;
    qpu_emu__find_rules(op);
}
