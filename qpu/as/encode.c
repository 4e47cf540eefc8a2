/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Operations to a word: which ALU takes which, and what the two read ports and the small immediate carry. */
#include "operation.h"

#include <string.h>

struct ports {
    struct qpu__assembler *as;
    struct qpu_instruction *word;
    bool has_a, has_b, has_small; /* small: port B carries an immediate's code */
    bool has_unpack;
    bool unpack_r4;
};

static bool take_small(struct ports *ports, const struct qpu__token *at, unsigned code)
{
    if (ports->has_b)
        return qpu__error(ports->as, at, "a small immediate or rotation takes the place of register file B");
    if (ports->has_small && ports->word->raddr_b != code)
        return qpu__error(ports->as, at, "only one small immediate or rotation in an instruction");
    if (ports->word->signal != QPU_SIGNAL_NONE && ports->word->signal != QPU_SIGNAL_SMALL_IMMEDIATE)
        return qpu__error(ports->as, at, "a small immediate or rotation excludes the signal %s",
                          qpu_signal_name(ports->word->signal));
    ports->has_small = true;
    ports->word->signal = QPU_SIGNAL_SMALL_IMMEDIATE;
    ports->word->raddr_b = (uint8_t)code;
    return true;
}

static bool take_unpack(struct ports *ports, const struct qpu__token *at, uint8_t code, bool r4)
{
    if (!code)
        return true;
    if (ports->has_unpack && (ports->word->unpack != code || ports->unpack_r4 != r4))
        return qpu__error(ports->as, at, "only one unpack mode in an instruction, for file A or for r4");
    ports->has_unpack = true;
    ports->unpack_r4 = r4;
    ports->word->unpack = code;
    return true;
}

static bool take_a(struct ports *ports, const struct qpu__operand *operand)
{
    if (ports->has_a && ports->word->raddr_a != operand->reg.address)
        return qpu__error(ports->as, operand->at, "only one register of file A can be read in an instruction");
    ports->has_a = true;
    ports->word->raddr_a = operand->reg.address;
    return take_unpack(ports, operand->at, operand->unpack, false);
}

static bool take_b(struct ports *ports, const struct qpu__operand *operand)
{
    if (ports->has_small)
        return qpu__error(ports->as, operand->at, "a small immediate or rotation takes the place of register file B");
    if (ports->has_b && ports->word->raddr_b != operand->reg.address)
        return qpu__error(ports->as, operand->at, "only one register of file B can be read in an instruction");
    ports->has_b = true;
    ports->word->raddr_b = operand->reg.address;
    return true;
}

/* Registers that both files have: the port that reads it already, else A, else B. */
static bool take_either(struct ports *ports, const struct qpu__operand *operand, uint8_t *mux)
{
    unsigned address = operand->reg.address;
    bool in_b = ports->has_b && ports->word->raddr_b == address && !operand->unpack;
    bool free_b = !ports->has_b && !ports->has_small && !operand->unpack;
    bool a = ports->has_a ? ports->word->raddr_a == address : !in_b;
    if (!a && !in_b && !free_b)
        return qpu__error(ports->as, operand->at, "both read ports are taken: there is none for '%.*s'",
                          operand->at->length, operand->at->text);
    *mux = a ? QPU_MUX_A : QPU_MUX_B;
    return a ? take_a(ports, operand) : take_b(ports, operand);
}

static bool is_flexible(const struct qpu__operand *operand)
{
    return operand->kind == QPU__FROM_REGISTER && !(operand->reg.flags & QPU__ACCUMULATOR) &&
           (operand->reg.flags & QPU__FILES) == QPU__FILES;
}

static bool take(struct ports *ports, const struct qpu__operand *operand, uint8_t *mux)
{
    int code = (int)operand->word;
    if (operand->kind != QPU__FROM_REGISTER) {
        if (operand->kind == QPU__FROM_IMMEDIATE)
            code = qpu_small_immediate_code(operand->word);
        *mux = QPU_MUX_B;
        if (code < 0)
            return qpu__error(ports->as, operand->at,
                              "0x%x is no small immediate (-16 .. 15, powers of two from 1.0/256 to 128.0): use ldi",
                              (unsigned)operand->word);
        return take_small(ports, operand->at, (unsigned)code);
    }
    if (operand->reg.flags & QPU__ACCUMULATOR) {
        *mux = operand->reg.address;
        if (operand->unpack && operand->reg.address != 4)
            return qpu__error(ports->as, operand->at, "only register file A and r4 unpack");
        return take_unpack(ports, operand->at, operand->unpack, true);
    }
    if (is_flexible(operand))
        return take_either(ports, operand, mux);
    *mux = operand->reg.flags & QPU__FILE_A ? QPU_MUX_A : QPU_MUX_B;
    if (*mux == QPU_MUX_A)
        return take_a(ports, operand);
    if (operand->unpack)
        return qpu__error(ports->as, operand->at, "only register file A and r4 unpack");
    return take_b(ports, operand);
}

/* First what can be in one place only, then the rest. */
static bool take_all(struct ports *ports, const struct qpu__operation *operations, size_t count, uint8_t muxes[][2])
{
    for (int flexible = 0; flexible < 2; flexible++) {
        for (size_t i = 0; i < count; i++) {
            const struct qpu__operation *op = &operations[i];
            if (op->rotated && !flexible &&
                !take_small(ports, op->at,
                            op->rotation == QPU__ROTATE_R5 ? QPU_ROTATE_BY_R5 : QPU_ROTATE_BASE + op->rotation))
                return false;
            for (int k = 0; k < op->operands; k++)
                if (is_flexible(&op->from[k]) == flexible && !take(ports, &op->from[k], &muxes[i][k]))
                    return false;
        }
    }
    return true;
}

/* Which operation is the add ALU's and which the mul ALU's: -1 if none is. */
static bool choose_units(struct qpu__assembler *as, const struct qpu__operation *operations, size_t count, int units[2])
{
    bool can_add[2] = {false, false}, can_mul[2] = {false, false};
    int list[2], used = 0;
    units[0] = units[1] = -1;
    for (size_t i = 0; i < count; i++) {
        if (operations[i].read)
            continue;
        if (used == 2)
            return qpu__error(as, operations[i].at, "an instruction has one operation for each ALU, not three");
        can_add[used] = operations[i].add_op >= 0 && !operations[i].rotated &&
                        !(operations[i].to.pack && operations[i].to.pack_mul);
        can_mul[used] = operations[i].mul_op >= 0;
        if (!can_add[used] && !can_mul[used])
            return qpu__error(as, operations[i].at, "'%.*s' is for the add ALU, which cannot rotate or pack colours",
                              operations[i].at->length, operations[i].at->text);
        list[used++] = (int)i;
    }
    if (used == 1)
        units[can_add[0] ? 0 : 1] = list[0];
    if (used < 2)
        return true;
    bool straight = can_add[0] && can_mul[1];
    if (!straight && !(can_add[1] && can_mul[0]))
        return qpu__error(as, operations[list[1]].at, "both operations are for the %s ALU", can_add[0] ? "add" : "mul");
    units[0] = straight ? list[0] : list[1];
    units[1] = straight ? list[1] : list[0];
    return true;
}

static unsigned default_condition(const struct qpu__destination *to, bool sets_flags)
{
    if (!to->at)
        return QPU_NEVER;
    if (to->condition >= 0)
        return (unsigned)to->condition;
    return to->address == QPU_WRITE_NOTHING && !sets_flags ? QPU_NEVER : QPU_ALWAYS;
}

static bool flags(struct qpu__assembler *as, const struct qpu__operation *add, const struct qpu__operation *mul,
                  struct qpu_instruction *word)
{
    word->set_flags = add->set_flags || mul->set_flags;
    if (mul->set_flags && !add->set_flags && word->op_add != QPU_ADD_NOP)
        return qpu__error(as, mul->at, "the flags come from the add ALU, which is busy with another operation");
    word->condition_add = (uint8_t)default_condition(&add->to, word->set_flags && word->op_add);
    word->condition_mul = (uint8_t)default_condition(&mul->to, word->set_flags && !word->op_add);
    return true;
}

bool qpu__encode(struct qpu__assembler *as, const struct qpu__token *at, const struct qpu__operation *operations,
                 size_t count, unsigned signal, uint64_t *result)
{
    enum { MOST = 4 };
    static const struct qpu__operation none = {.add_op = QPU_ADD_NOP, .mul_op = QPU_MUL_NOP, .to.condition = -1};
    uint8_t muxes[MOST][2] = {{0}};
    int units[2];
    struct qpu_instruction word = {
        .kind = QPU_ALU, .signal = (uint8_t)signal, .raddr_a = QPU_READ_NOTHING, .raddr_b = QPU_READ_NOTHING};
    struct ports ports = {.as = as, .word = &word};
    if (count > MOST)
        return qpu__error(as, at, "too many parts in one instruction");
    if (!choose_units(as, operations, count, units) || !take_all(&ports, operations, count, muxes))
        return false;
    const struct qpu__operation *add = units[0] >= 0 ? &operations[units[0]] : &none;
    const struct qpu__operation *mul = units[1] >= 0 ? &operations[units[1]] : &none;
    word.op_add = (uint8_t)add->add_op;
    word.op_mul = (uint8_t)mul->mul_op;
    if (add != &none) {
        word.add_a = muxes[units[0]][0];
        word.add_b = muxes[units[0]][add->operands > 1];
    }
    if (mul != &none) {
        word.mul_a = muxes[units[1]][0];
        word.mul_b = muxes[units[1]][mul->operands > 1];
    }
    for (size_t i = 0; i < count; i++)
        if (!take_unpack(&ports, operations[i].at, operations[i].unpack, false))
            return false;
    if (!flags(as, add, mul, &word) || !qpu__place_destinations(as, &word, &add->to, &mul->to))
        return false;
    if (ports.has_unpack && ports.unpack_r4) {
        if (word.pack && !word.pack_mode)
            return qpu__error(as, at, "unpacking r4 excludes packing to register file A");
        word.pack_mode = true;
    } else if (ports.has_unpack && word.pack_mode) {
        return qpu__error(as, at, "packing a colour excludes unpacking register file A");
    }
    *result = qpu_encode(&word);
    return true;
}
