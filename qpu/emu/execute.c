/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One instruction: ports, ALUs, conditions, flags, writes, signals, then where the next one is. */
#include "state.h"

enum { ADD, MUL };

/* A result with what writing it needs. */
struct result {
    struct qpu_lanes value;
    struct qpu_packing packing;
    unsigned mask; /* lanes in which the condition holds */
};

static unsigned holds(const struct qpu *q, unsigned condition)
{
    switch (condition) {
    case QPU_NEVER:
        return 0;
    case QPU_ALWAYS:
        return 0xffff;
    case QPU_IF_ZERO:
    case QPU_IF_NOT_ZERO:
        return q->zero ^ (condition & 1 ? 0xffff : 0);
    case QPU_IF_NEGATIVE:
    case QPU_IF_NOT_NEGATIVE:
        return q->negative ^ (condition & 1 ? 0xffff : 0);
    default:
        return q->carry ^ (condition & 1 ? 0xffff : 0);
    }
}

static const struct qpu_lanes *input(const struct qpu *q, const struct operation *op, unsigned mux, bool as_float,
                                     struct qpu_lanes *unpacked)
{
    const struct qpu_instruction *in = &op->in;
    const struct qpu_lanes *source;
    if (mux == QPU_MUX_B)
        return in->signal == QPU_SIGNAL_SMALL_IMMEDIATE ? &op->immediate : &q->port[1];
    source = mux == QPU_MUX_A ? &q->port[0] : &q->r[mux];
    if (!in->unpack || mux != (in->pack_mode ? QPU_MUX_R4 : QPU_MUX_A))
        return source;
    qpu_emu__unpack(in->unpack, as_float || in->pack_mode, source, unpacked);
    return unpacked;
}

static void rotate(const struct qpu *q, const struct operation *op, struct qpu_lanes *value)
{
    unsigned code = op->in.raddr_b, by = (code == QPU_ROTATE_BY_R5 ? q->r[5].v[0] : code - QPU_ROTATE_BASE) & 15;
    struct qpu_lanes turned;
    for (unsigned i = 0; i < QPU_LANES; i++)
        turned.v[op->full_rotate ? (i + by) & 15 : (i & 12) | ((i + by) & 3)] = value->v[i];
    *value = turned;
}

static uint16_t signed_overflow(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b,
                                const struct qpu_lanes *out)
{
    unsigned overflow = 0;
    if (op != QPU_ADD && op != QPU_SUB)
        return 0;
    for (int i = 0; i < QPU_LANES; i++) {
        uint32_t second = op == QPU_SUB ? ~b->v[i] : b->v[i];
        overflow |= (~(a->v[i] ^ second) & (a->v[i] ^ out->v[i])) >> 31 << i;
    }
    return (uint16_t)overflow;
}

static void run_add(const struct qpu *q, const struct operation *op, struct result *result)
{
    const struct qpu_instruction *in = &op->in;
    struct qpu_lanes unpacked[2];
    bool as_float = qpu_emu__add_takes_float(in->op_add);
    const struct qpu_lanes *a = input(q, op, in->add_a, as_float, &unpacked[0]);
    const struct qpu_lanes *b = input(q, op, in->add_b, as_float, &unpacked[1]);
    qpu_emu__add_alu(in->op_add, a, b, &result->value);
    result->packing = (struct qpu_packing){.is_float = qpu_emu__add_gives_float(in->op_add)};
    if (in->set_flags || in->pack)
        result->packing.carry = qpu_emu__add_carry(in->op_add, a, b, &result->value);
    if (in->pack)
        result->packing.overflow = signed_overflow(in->op_add, a, b, &result->value);
}

static void run_mul(struct qpu *q, const struct operation *op, struct result *result)
{
    const struct qpu_instruction *in = &op->in;
    struct qpu_lanes unpacked[2];
    bool as_float = in->op_mul == QPU_FMUL;
    const struct qpu_lanes *a, *b;
    result->packing = (struct qpu_packing){.is_float = as_float};
    if (in->op_mul == QPU_MUL_NOP) {
        if (in->condition_mul != QPU_NEVER && in->waddr_mul != QPU_WRITE_NOTHING)
            result->value = q->last_mul;
        return;
    }
    a = input(q, op, in->mul_a, as_float, &unpacked[0]);
    b = in->mul_a == in->mul_b ? a : input(q, op, in->mul_b, as_float, &unpacked[1]);
    qpu_emu__mul_alu(in->op_mul, a, b, &result->value);
    if (in->set_flags)
        result->packing.carry = qpu_emu__mul_carry(in->op_mul, a, b);
    if (op->rotates)
        rotate(q, op, &result->value);
    q->last_mul = result->value;
}

static void set_flags(struct qpu *q, const struct result *result)
{
    unsigned zero = 0, negative = 0, mask = result->mask;
    for (int i = 0; i < QPU_LANES; i++) {
        zero |= (unsigned)(result->value.v[i] == 0) << i;
        negative |= result->value.v[i] >> 31 << i;
    }
    q->zero = (uint16_t)((q->zero & ~mask) | (zero & mask));
    q->negative = (uint16_t)((q->negative & ~mask) | (negative & mask));
    q->carry = (uint16_t)((q->carry & ~mask) | (result->packing.carry & mask));
    if (mask == 0xffff)
        q->flags_unknown = false;
}

static const struct qpu_lanes *content(const struct qpu *q, int file, unsigned address)
{
    static const struct qpu_lanes nothing;
    if (address < 32)
        return &q->file[file][address];
    if (address <= QPU_WRITE_R3)
        return &q->r[address - QPU_WRITE_R0];
    return address == QPU_WRITE_R5 ? &q->r[5] : &nothing;
}

static void write_result(struct qpu_emulator *e, struct qpu *q, const struct operation *op, int unit,
                         struct result *result)
{
    const struct qpu_instruction *in = &op->in;
    unsigned address = unit == ADD ? in->waddr_add : in->waddr_mul;
    int file = (unit == MUL) != in->write_swap;
    struct qpu_lanes packed;
    if (address == QPU_WRITE_NOTHING || (unit == ADD ? in->condition_add : in->condition_mul) == QPU_NEVER)
        return;
    if (!in->pack || (in->pack_mode ? unit != MUL : file != 0)) {
        qpu_emu__write(e, q, file, address, &result->value, result->mask);
        return;
    }
    result->packing.mode = in->pack;
    result->packing.colour = in->pack_mode;
    qpu_emu__pack(&result->packing, &result->value, content(q, file, address), &packed);
    qpu_emu__write(e, q, file, address, &packed, result->mask);
}

static void run_alus(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    const struct qpu_instruction *in = &op->in;
    struct result add, mul;
    bool from_add = in->op_add != QPU_ADD_NOP, from_mul = in->op_mul != QPU_MUL_NOP;
    run_mul(q, op, &mul);
    if (from_add || in->condition_add != QPU_NEVER)
        run_add(q, op, &add);
    add.mask = holds(q, in->condition_add);
    mul.mask = holds(q, in->condition_mul);
    if (in->set_flags && (from_add || from_mul))
        set_flags(q, from_add ? &add : &mul);
    write_result(e, q, op, ADD, &add);
    write_result(e, q, op, MUL, &mul);
}

/* Loads and semaphores: the immediate goes where both ALUs would write. */
static void run_load(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    const struct qpu_instruction *in = &op->in;
    struct result add = {.value = op->immediate}, mul;
    mul = add;
    add.mask = holds(q, in->condition_add);
    mul.mask = holds(q, in->condition_mul);
    if (in->kind == QPU_SEMAPHORE)
        e->semaphores[in->immediate & 15] += in->immediate >> 4 & 1 ? -1 : 1;
    if (in->set_flags)
        set_flags(q, &add);
    write_result(e, q, op, ADD, &add);
    write_result(e, q, op, MUL, &mul);
}

static bool branch_taken(const struct qpu *q, unsigned condition)
{
    unsigned flags = condition < 4 ? q->zero : condition < 8 ? q->negative : q->carry;
    if (condition >= QPU_BRANCH_ANY_NOT_CARRY + 1)
        return condition == QPU_BRANCH_ALWAYS;
    switch (condition & 3) {
    case 0:
        return flags == 0xffff;
    case 1:
        return flags == 0;
    case 2:
        return flags != 0;
    default:
        return flags != 0xffff;
    }
}

static void run_branch(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    const struct qpu_instruction *in = &op->in;
    uint32_t after = q->pc + 32, target = in->immediate;
    struct qpu_lanes link;
    q->branch_at = q->count;
    if (!branch_taken(q, in->branch_condition))
        return;
    if (in->branch_relative)
        target += after;
    if (in->branch_register) {
        for (int i = 0; i < QPU_LANES - 1; i++)
            if (q->port[0].v[i] != q->port[0].v[QPU_LANES - 1]) {
                qpu_emu__hazard(e, q, QPU_HAZARD_BRANCH_REGISTER, in->branch_raddr);
                break;
            }
        target += q->port[0].v[QPU_LANES - 1];
    }
    q->targets[3] = target;
    q->branches |= 8;
    q->flags_unknown |= in->branch_raddr & 1;
    for (int i = 0; i < QPU_LANES; i++)
        link.v[i] = after;
    if (in->waddr_add != QPU_WRITE_NOTHING)
        qpu_emu__write(e, q, in->write_swap, in->waddr_add, &link, 0xffff);
    if (in->waddr_mul != QPU_WRITE_NOTHING)
        qpu_emu__write(e, q, !in->write_swap, in->waddr_mul, &link, 0xffff);
}

static void go_on(struct qpu_emulator *e, struct qpu *q)
{
    if (q->ending && --q->ending == 0) {
        q->alive = false;
        qpu_emu__check_end(e, q);
    }
    q->pc = q->branches & 1 ? q->targets[0] : q->pc + 8;
    if (q->branches) {
        q->branches >>= 1;
        for (int i = 0; i < 3; i++)
            q->targets[i] = q->targets[i + 1];
    }
}

/* What was written three instructions ago takes effect. */
static void settle(struct qpu *q)
{
    if (q->sfu_at && q->count - q->sfu_at == 3)
        q->r[4] = q->sfu;
    if (q->uniforms_at && q->count - q->uniforms_at == 3)
        q->uniforms = q->next_uniforms;
}

void qpu_emu__execute(struct qpu_emulator *e, struct qpu *q, const struct operation *op)
{
    settle(q);
    qpu_emu__read_ports(e, q, op);
    q->wrote[0] = q->wrote[1] = -1;
    q->wrote_accumulators = 0;
    switch (op->in.kind) {
    case QPU_ALU:
        run_alus(e, q, op);
        break;
    case QPU_BRANCH:
        run_branch(e, q, op);
        break;
    default:
        run_load(e, q, op);
    }
    if (op->loads_r4)
        qpu_emu__tmu_pop(e, q, op->in.signal == QPU_SIGNAL_LOAD_TMU1);
    if ((op->in.signal == QPU_SIGNAL_END || op->in.signal == QPU_SIGNAL_LOAD_COLOR_AND_END) && !q->ending)
        q->ending = 3;
    go_on(e, q);
}
