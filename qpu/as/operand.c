/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Operands as they are read: suffixes of the mnemonic, destinations, sources; and where destinations go. */
#include "operation.h"

#include <string.h>

bool qpu__comma(struct qpu__assembler *as, const struct qpu__token **at)
{
    if (!qpu__is(*at, ","))
        return qpu__error(as, *at, "expected ','");
    ++*at;
    return true;
}

static bool set_condition(struct qpu__assembler *as, const struct qpu__token *at, struct qpu__destination *to,
                          int condition)
{
    if (to->condition >= 0 && to->condition != condition)
        return qpu__error(as, at, "two conditions");
    to->condition = condition;
    return true;
}

static bool set_pack(struct qpu__assembler *as, const struct qpu__token *at, struct qpu__destination *to, uint8_t code,
                     bool mul)
{
    if (to->pack && (to->pack != code || to->pack_mul != mul))
        return qpu__error(as, at, "two pack modes");
    to->pack = code;
    to->pack_mul = mul;
    return true;
}

/* .setf, .ifz, .pack16a, .unpack16a after the mnemonic */
bool qpu__read_suffixes(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__operation *op)
{
    for (; (*at)->kind == QPU__SUFFIX; ++*at) {
        struct qpu__token part = **at;
        uint8_t code;
        bool mul;
        int condition;
        if (qpu__is(*at, "setf") || qpu__is(*at, "sf")) {
            op->set_flags = true;
            continue;
        }
        if (qpu__condition_code(*at, &condition)) {
            if (!set_condition(as, *at, &op->to, condition))
                return false;
            continue;
        }
        if (part.length > 4 && !memcmp(part.text, "pack", 4)) {
            part.text += 4;
            part.length -= 4;
            if (qpu__pack_code(&part, op->mul_op == QPU_FMUL, &code, &mul)) {
                if (!set_pack(as, *at, &op->to, code, mul))
                    return false;
                continue;
            }
        }
        if (part.length > 6 && !memcmp(part.text, "unpack", 6)) {
            part.text += 6;
            part.length -= 6;
            if (qpu__unpack_code(&part, &op->unpack))
                continue;
        }
        return qpu__error(as, *at, "'.%.*s' is no condition, flag or pack mode", (*at)->length, (*at)->text);
    }
    return true;
}

static bool destination_suffix(struct qpu__assembler *as, const struct qpu__token *suffix, struct qpu__operation *op,
                               struct qpu__destination *to)
{
    struct qpu__token longer = *suffix;
    char text[8] = "if";
    int condition;
    uint8_t code;
    bool mul;
    if (qpu__is(suffix, "setf") || qpu__is(suffix, "sf")) {
        op->set_flags = true;
        return true;
    }
    if (suffix->length < 5) { /* .z for .ifz */
        memcpy(text + 2, suffix->text, (size_t)suffix->length);
        longer.text = text;
        longer.length = suffix->length + 2;
    }
    if (qpu__condition_code(suffix, &condition) || qpu__condition_code(&longer, &condition))
        return set_condition(as, suffix, to, condition);
    if (qpu__pack_code(suffix, op->mul_op == QPU_FMUL, &code, &mul))
        return set_pack(as, suffix, to, code, mul);
    return qpu__error(as, suffix, "'.%.*s' is no pack mode or condition", suffix->length, suffix->text);
}

static bool rotate(struct qpu__assembler *as, const struct qpu__token *at, struct qpu__operation *op, uint8_t rotation)
{
    if (op->rotated && op->rotation != rotation)
        return qpu__error(as, at, "two different rotations in one operation");
    op->rotated = true;
    op->rotation = rotation;
    return true;
}

bool qpu__read_destination(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__operation *op,
                           struct qpu__destination *to)
{
    struct qpu__value value;
    to->at = *at;
    if (qpu__is(*at, "-") &&
        (qpu__is(*at + 1, ",") || (*at)[1].kind == QPU__SUFFIX || (*at)[1].kind == QPU__END || qpu__is(*at + 1, ";"))) {
        to->address = QPU_WRITE_NOTHING;
        to->files = QPU__FILES;
        for (++*at; (*at)->kind == QPU__SUFFIX; ++*at)
            if (!destination_suffix(as, *at, op, to))
                return false;
        return true;
    }
    if (!qpu__expression(as, at, &value))
        return false;
    if (value.kind != QPU__REGISTER)
        return qpu__error(as, to->at, "the destination must be a register or -, not %s", qpu__kind_name(&value));
    if (!(value.reg.flags & QPU__WRITE)) {
        if ((value.reg.flags & QPU__ACCUMULATOR) && value.reg.address == 5)
            return qpu__error(as, to->at, "write r5rep (element 0 to all) or r5quad (element 0 of each quad)");
        return qpu__error(as, to->at, "'%.*s' cannot be written", to->at->length, to->at->text);
    }
    to->files = value.reg.flags & QPU__FILES;
    to->address = value.reg.address;
    if (value.reg.flags & QPU__ACCUMULATOR)
        to->address = (uint8_t)(QPU_WRITE_R0 + value.reg.address);
    /* << on a destination moves the result up, >> on a source takes it from below: the same */
    if (value.reg.rotated && value.reg.rotation == QPU__ROTATE_R5)
        return qpu__error(as, to->at, "rotate the source by r5, not the destination");
    if (value.reg.rotated && !rotate(as, to->at, op, (uint8_t)(16 - value.reg.rotation)))
        return false;
    for (int i = 0; i < value.reg.suffix_count; i++)
        if (!destination_suffix(as, value.reg.suffixes[i], op, to))
            return false;
    return true;
}

static bool source_suffixes(struct qpu__assembler *as, const struct qpu__register *reg, struct qpu__operand *operand)
{
    for (int i = 0; i < reg->suffix_count; i++)
        if (!qpu__unpack_code(reg->suffixes[i], &operand->unpack))
            return qpu__error(as, reg->suffixes[i], "'.%.*s' is no unpack mode", reg->suffixes[i]->length,
                              reg->suffixes[i]->text);
    return true;
}

bool qpu__read_operand(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__operation *op)
{
    struct qpu__operand *operand = &op->from[op->operands];
    struct qpu__value value;
    operand->at = *at;
    if (!qpu__expression(as, at, &value))
        return false;
    op->operands++;
    if (value.kind == QPU__SMALL) {
        operand->kind = QPU__FROM_CODE;
        operand->word = (uint32_t)value.integer;
        return true;
    }
    if (value.kind != QPU__REGISTER) {
        operand->kind = QPU__FROM_IMMEDIATE;
        return qpu__word_of(as, operand->at, &value, &operand->word);
    }
    operand->kind = QPU__FROM_REGISTER;
    operand->reg = value.reg;
    if (!(value.reg.flags & QPU__READ))
        return qpu__error(as, operand->at, "'%.*s' cannot be read", operand->at->length, operand->at->text);
    if (value.reg.rotated && !rotate(as, operand->at, op, value.reg.rotation))
        return false;
    return source_suffixes(as, &value.reg, operand);
}

static const char *file_name(unsigned files)
{
    return files == QPU__FILE_A ? "A" : "B";
}

bool qpu__place_destinations(struct qpu__assembler *as, struct qpu_instruction *word,
                             const struct qpu__destination *add, const struct qpu__destination *mul)
{
    unsigned add_files = add->at ? add->files : QPU__FILES, mul_files = mul->at ? mul->files : QPU__FILES;
    bool packs_a = (add->pack && !add->pack_mul) || (mul->pack && !mul->pack_mul);
    if (add->pack_mul && add->pack)
        return qpu__error(as, add->at, "only the mul ALU packs floats to colours");
    if (add->pack && mul->pack)
        return qpu__error(as, mul->at, "only one result of an instruction can be packed");
    if (packs_a && add->pack)
        add_files &= QPU__FILE_A;
    if (packs_a && mul->pack)
        mul_files &= QPU__FILE_A;
    if (!add_files || !mul_files)
        return qpu__error(as, add_files ? mul->at : add->at, "only register file A packs");
    if (add_files == mul_files && add_files != QPU__FILES)
        return qpu__error(as, mul->at, "both ALUs write register file %s: one must write the other file",
                          file_name(add_files));
    word->write_swap = add_files == QPU__FILE_B || mul_files == QPU__FILE_A;
    word->waddr_add = add->at ? add->address : QPU_WRITE_NOTHING;
    word->waddr_mul = mul->at ? mul->address : QPU_WRITE_NOTHING;
    word->pack = add->pack ? add->pack : mul->pack;
    word->pack_mode = mul->pack_mul;
    return true;
}
