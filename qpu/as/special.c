/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Instructions that stand alone: load immediate, semaphore, branch. */
#include "operation.h"

enum { LOAD_32 = 0, LOAD_SIGNED = 1, LOAD_UNSIGNED = 3, SEMAPHORE = 4 };

static const char *const specials[] = {"ldi", "ldis", "ldiu", "sacq", "srel", "bra", "brr"};

bool qpu__is_special(const struct qpu__token *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (name->kind == QPU__NAME && qpu__is(name, specials[i]))
            return true;
    return false;
}

static unsigned condition(const struct qpu__destination *to, int both, bool sets_flags)
{
    if (!to->at)
        return QPU_NEVER;
    if (to->condition >= 0)
        return (unsigned)to->condition;
    if (both >= 0)
        return (unsigned)both;
    return to->address == QPU_WRITE_NOTHING && !sets_flags ? QPU_NEVER : QPU_ALWAYS;
}

bool qpu__load(struct qpu__assembler *as, const struct qpu__operation *op, const struct qpu__destination *second,
               uint32_t immediate, unsigned type, uint64_t *result)
{
    static const struct qpu__destination none = {.condition = -1};
    struct qpu_instruction word = {.kind = type == SEMAPHORE ? QPU_SEMAPHORE : QPU_LOAD,
                                   .signal = QPU_SIGNAL_LOAD_IMMEDIATE,
                                   .set_flags = op->set_flags,
                                   .immediate = immediate};
    struct qpu__destination add = op->to, mul = second ? *second : none;
    if (op->rotated || op->unpack)
        return qpu__error(as, op->at, "a load immediate does not rotate or unpack");
    if (!second && add.pack && add.pack_mul) { /* only the multiplier's result can be a colour */
        mul = add;
        add = none;
    }
    if (!qpu__place_destinations(as, &word, &add, &mul))
        return false;
    word.condition_add = (uint8_t)condition(&add, -1, op->set_flags);
    word.condition_mul = (uint8_t)condition(&mul, second && add.at ? op->to.condition : -1, false);
    word.unpack = (uint8_t)type;
    *result = qpu_encode(&word);
    return true;
}

static int count_operands(const struct qpu__token *at)
{
    int count = 1, depth = 0;
    for (; at->kind != QPU__END; at++) {
        depth += qpu__is(at, "(") + qpu__is(at, "[") - qpu__is(at, ")") - qpu__is(at, "]");
        count += depth == 0 && qpu__is(at, ",");
    }
    return count;
}

/* ldi dest, [dest,] constant   sacq [dest, [dest,]] number */
static bool load(struct qpu__assembler *as, const struct qpu__token **at, uint64_t *result)
{
    const struct qpu__token *name = (*at)++;
    bool semaphore = name->text[0] == 's';
    struct qpu__operation op = {.at = name, .to.condition = -1};
    struct qpu__destination second = {.condition = -1};
    struct qpu__value value;
    if (!qpu__read_suffixes(as, at, &op))
        return false;
    int both = op.to.condition;
    int destinations = count_operands(*at) - 1;
    if (destinations > 2 || (destinations == 0 && !semaphore))
        return qpu__error(as, name, "expected %.*s destination, [destination,] value", name->length, name->text);
    if (destinations == 0) {
        op.to.at = name;
        op.to.address = QPU_WRITE_NOTHING;
        op.to.files = QPU__FILES;
    }
    if (destinations > 0 && (!qpu__read_destination(as, at, &op, &op.to) || !qpu__comma(as, at)))
        return false;
    second.condition = both;
    if (destinations > 1 && (!qpu__read_destination(as, at, &op, &second) || !qpu__comma(as, at)))
        return false;
    const struct qpu__token *start = *at;
    if (!qpu__expression(as, at, &value))
        return false;
    if (semaphore) {
        int64_t number = value.integer;
        if (value.kind != QPU__INT || number < 0 || number > (int64_t)UINT32_MAX || (number & 16))
            return qpu__error(as, start, "a semaphore's number is 0 .. 15");
        value.integer = number | (name->text[1] == 'a' ? 16 : 0);
        return qpu__load(as, &op, destinations > 1 ? &second : NULL, (uint32_t)value.integer, SEMAPHORE, result);
    }
    unsigned type = LOAD_32;
    if (value.kind == QPU__ELEMENTS)
        type = name->length == 4 ? (name->text[3] == 's' ? LOAD_SIGNED : LOAD_UNSIGNED)
                                 : (value.is_signed ? LOAD_SIGNED : LOAD_UNSIGNED);
    else if (name->length == 4)
        return qpu__error(as, start, "%.*s loads a constant per element: [16 of them]", name->length, name->text);
    uint32_t immediate;
    return qpu__word_of(as, start, &value, &immediate) &&
           qpu__load(as, &op, destinations > 1 ? &second : NULL, immediate, type, result);
}

struct target {
    bool has_immediate, has_register;
    uint32_t immediate;
    uint8_t address;
};

static bool branch_register(struct qpu__assembler *as, const struct qpu__token *at, const struct qpu__register *reg,
                            struct target *target)
{
    if ((reg->flags & QPU__ACCUMULATOR) || !(reg->flags & QPU__FILE_A) || reg->address > 31 || reg->rotated ||
        reg->suffix_count)
        return qpu__error(as, at, "a branch takes its target from ra0 .. ra31");
    if (target->has_register)
        return qpu__error(as, at, "a branch takes one register for its target");
    target->has_register = true;
    target->address = reg->address;
    return true;
}

static bool branch_part(struct qpu__assembler *as, const struct qpu__token **at, bool relative, struct target *target)
{
    struct qpu__value value;
    const struct qpu__token *start = *at;
    if (qpu__is(start, "-") && (start[1].kind == QPU__END || qpu__is(start + 1, ","))) {
        ++*at; /* no register */
        return true;
    }
    if (!qpu__expression(as, at, &value))
        return false;
    if (value.kind == QPU__REGISTER)
        return branch_register(as, start, &value.reg, target);
    if (target->has_immediate)
        return qpu__error(as, start, "a branch has one constant or label for its target");
    if (value.kind == QPU__LABEL && relative)
        value.integer -= (int64_t)as->size + 32;
    else if (value.relative)
        return qpu__error(as, start, "bra goes to an absolute address: write brr, or the label without r");
    value.relative = false;
    target->has_immediate = true;
    return qpu__word_of(as, start, &value, &target->immediate);
}

static bool branch_condition(struct qpu__assembler *as, const struct qpu__token **at, uint8_t *result)
{
    *result = QPU_BRANCH_ALWAYS;
    if ((*at)->kind != QPU__SUFFIX)
        return true;
    for (unsigned i = 0; i < 12; i++) {
        if (qpu__is(*at, qpu_branch_condition_name(i))) {
            *result = (uint8_t)i;
            ++*at;
            return true;
        }
    }
    return qpu__error(as, *at, "'.%.*s' is no condition of a branch: .allz, .anynz and such", (*at)->length,
                      (*at)->text);
}

/* bra[.cond] dest, [dest,] target [, register]: with four operands the second is a destination */
static bool branch(struct qpu__assembler *as, const struct qpu__token **at, uint64_t *result)
{
    const struct qpu__token *name = (*at)++;
    bool relative = name->text[2] == 'r';
    struct qpu_instruction word = {.kind = QPU_BRANCH, .signal = QPU_SIGNAL_BRANCH, .branch_relative = relative};
    struct qpu__operation op = {.at = name, .to.condition = -1};
    struct qpu__destination second = {.condition = -1};
    struct target target = {0};
    if (!branch_condition(as, at, &word.branch_condition))
        return false;
    int operands = count_operands(*at);
    if (operands < 2 || operands > 4)
        return qpu__error(as, name, "expected %.*s destination, [destination,] target [, register]", name->length,
                          name->text);
    if (!qpu__read_destination(as, at, &op, &op.to) || !qpu__comma(as, at))
        return false;
    if (operands == 4 && (!qpu__read_destination(as, at, &op, &second) || !qpu__comma(as, at)))
        return false;
    const struct qpu__token *start = *at;
    if (!branch_part(as, at, relative, &target))
        return false;
    if (qpu__is(*at, ",") && (++*at, !branch_part(as, at, relative, &target)))
        return false;
    if (!target.has_immediate && !target.has_register)
        return qpu__error(as, start, "a branch needs a target");
    if (op.set_flags || op.to.condition >= 0 || second.condition >= 0 || op.to.pack || second.pack || op.rotated)
        return qpu__error(as, name, "the link register of a branch takes no suffix");
    if (!qpu__place_destinations(as, &word, &op.to, &second))
        return false;
    word.immediate = target.immediate;
    word.branch_register = target.has_register;
    word.branch_raddr = target.address;
    *result = qpu_encode(&word);
    return true;
}

bool qpu__special(struct qpu__assembler *as, const struct qpu__token **at, uint64_t *word)
{
    return (*at)->text[0] == 'b' ? branch(as, at, word) : load(as, at, word);
}
