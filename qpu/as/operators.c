/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the operators do. Integers have 64 bits and wrap; a float on either side makes both floats. */
#include "internal.h"

#include <math.h>

static bool no_operation(struct qpu__assembler *as, const struct qpu__token *op, const struct qpu__value *left,
                         const struct qpu__value *right)
{
    return qpu__error(as, op, "'%.*s' cannot be applied to %s and %s", op->length, op->text, qpu__kind_name(left),
                      qpu__kind_name(right));
}

bool qpu__unary(struct qpu__assembler *as, const struct qpu__token *op, struct qpu__value *value)
{
    char sign = *op->text;
    if (sign == '+')
        return true;
    if (value->kind == QPU__FLOAT && sign == '-')
        value->real = -value->real;
    else if (value->kind == QPU__INT && sign == '-')
        value->integer = (int64_t)(0 - (uint64_t)value->integer);
    else if (value->kind == QPU__INT && sign == '~')
        value->integer = ~value->integer;
    else if (value->kind == QPU__INT && sign == '!')
        value->integer = !value->integer;
    else if (value->kind == QPU__FLOAT && sign == '!')
        *value = (struct qpu__value){.kind = QPU__INT, .integer = value->real == 0.0};
    else
        return qpu__error(as, op, "'%c' cannot be applied to %s", sign, qpu__kind_name(value));
    return true;
}

/* ra3 + 1 is ra4; r0 << 1 gives lane i what lane i + 1 has. */
static bool with_register(struct qpu__assembler *as, const struct qpu__token *op, struct qpu__value *left,
                          const struct qpu__value *right)
{
    struct qpu__register *reg = &left->reg;
    bool up = qpu__is(op, ">>"), down = qpu__is(op, "<<");
    if ((up || down) && reg->rotated)
        return qpu__error(as, op, "this register is rotated already");
    if (up && right->kind == QPU__REGISTER && (right->reg.flags & QPU__ACCUMULATOR) && right->reg.address == 5) {
        reg->rotation = QPU__ROTATE_R5;
        reg->rotated = true;
        return true;
    }
    if (right->kind != QPU__INT || right->unknown)
        return no_operation(as, op, left, right);
    if (up || down) {
        if (right->integer < -15 || right->integer > 15)
            return qpu__error(as, op, "a rotation is by -15 .. 15 elements, or by r5 with >>");
        reg->rotation = (uint8_t)((up ? right->integer : -right->integer) & 15);
        reg->rotated = reg->rotation != 0;
        return true;
    }
    if (!qpu__is(op, "+") && !qpu__is(op, "-"))
        return no_operation(as, op, left, right);
    bool accumulator = reg->flags & QPU__ACCUMULATOR;
    int64_t limit = accumulator ? 4 : 32;
    if (right->integer < -limit || right->integer > limit || (!accumulator && reg->address >= limit))
        return qpu__error(as, op, "there is no such register");
    int64_t number = reg->address + (qpu__is(op, "+") ? right->integer : -right->integer);
    if (number < 0 || number >= limit)
        return qpu__error(as, op, "there is no such register");
    reg->address = (uint8_t)number;
    return true;
}

static bool floats(struct qpu__assembler *as, const struct qpu__token *op, struct qpu__value *left, double a, double b)
{
    int truth = -1;
    double result = 0.0;
    if (qpu__is(op, "+"))
        result = a + b;
    else if (qpu__is(op, "-"))
        result = a - b;
    else if (qpu__is(op, "*"))
        result = a * b;
    else if (qpu__is(op, "/"))
        result = a / b;
    else if (qpu__is(op, "%"))
        result = fmod(a, b);
    else if (qpu__is(op, "**"))
        result = pow(a, b);
    else if (qpu__is(op, "<"))
        truth = a < b;
    else if (qpu__is(op, "<="))
        truth = a <= b;
    else if (qpu__is(op, ">"))
        truth = a > b;
    else if (qpu__is(op, ">="))
        truth = a >= b;
    else if (qpu__is(op, "=="))
        truth = a == b;
    else if (qpu__is(op, "!="))
        truth = a != b;
    else if (qpu__is(op, "&&"))
        truth = a != 0.0 && b != 0.0;
    else if (qpu__is(op, "||"))
        truth = a != 0.0 || b != 0.0;
    else
        return qpu__error(as, op, "'%.*s' cannot be applied to floats", op->length, op->text);
    if (truth >= 0)
        *left = (struct qpu__value){.kind = QPU__INT, .integer = truth, .unknown = left->unknown};
    else
        *left = (struct qpu__value){.kind = QPU__FLOAT, .real = result, .unknown = left->unknown};
    return true;
}

/* Negative counts shift the other way, 64 and more shift everything out. */
static int64_t shift(int64_t value, int64_t left)
{
    if (left >= 64)
        return 0;
    if (left >= 0)
        return (int64_t)((uint64_t)value << left);
    left = left < -63 ? -63 : left;
    return value < 0 ? ~(~value >> -left) : value >> -left;
}

static int64_t logical_shift(int64_t value, int64_t left)
{
    uint64_t word = (uint32_t)value;
    if (left >= 32 || left <= -32)
        return 0;
    return (uint32_t)(left >= 0 ? word << left : word >> -left);
}

static int64_t power(int64_t base, int64_t exponent)
{
    uint64_t result = 1, factor = (uint64_t)base;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result *= factor;
        factor *= factor;
    }
    return (int64_t)result;
}

static bool divide(struct qpu__assembler *as, const struct qpu__token *op, int64_t *a, int64_t b)
{
    if (b == 0)
        return qpu__error(as, op, "division by zero");
    if (b == -1) /* the smallest integer by -1 traps on some machines */
        *a = qpu__is(op, "/") ? (int64_t)(0 - (uint64_t)*a) : 0;
    else
        *a = qpu__is(op, "/") ? *a / b : *a % b;
    return true;
}

static bool integers(struct qpu__assembler *as, const struct qpu__token *op, int64_t *a, int64_t b)
{
    uint64_t x = (uint64_t)*a, y = (uint64_t)b;
    if (qpu__is(op, "+"))
        *a = (int64_t)(x + y);
    else if (qpu__is(op, "-"))
        *a = (int64_t)(x - y);
    else if (qpu__is(op, "*"))
        *a = (int64_t)(x * y);
    else if (qpu__is(op, "/") || qpu__is(op, "%"))
        return divide(as, op, a, b);
    else if (qpu__is(op, "**") && b < 0)
        return qpu__error(as, op, "an integer to a negative power: write one of them as a float");
    else if (qpu__is(op, "**"))
        *a = power(*a, b);
    else if (qpu__is(op, "<<"))
        *a = shift(*a, b);
    else if (qpu__is(op, ">>"))
        *a = shift(*a, b == INT64_MIN ? INT64_MAX : -b);
    else if (qpu__is(op, "<<<"))
        *a = logical_shift(*a, b);
    else if (qpu__is(op, ">>>"))
        *a = logical_shift(*a, b == INT64_MIN ? INT64_MAX : -b);
    else if (qpu__is(op, "<"))
        *a = *a < b;
    else if (qpu__is(op, "<="))
        *a = *a <= b;
    else if (qpu__is(op, ">"))
        *a = *a > b;
    else if (qpu__is(op, ">="))
        *a = *a >= b;
    else if (qpu__is(op, "=="))
        *a = *a == b;
    else if (qpu__is(op, "!="))
        *a = *a != b;
    else if (qpu__is(op, "&"))
        *a &= b;
    else if (qpu__is(op, "^"))
        *a ^= b;
    else if (qpu__is(op, "|"))
        *a |= b;
    else if (qpu__is(op, "&&"))
        *a = *a && b;
    else if (qpu__is(op, "^^"))
        *a = !*a != !b;
    else
        *a = *a || b;
    return true;
}

static bool is_additive(const struct qpu__token *op)
{
    return qpu__is(op, "+") || qpu__is(op, "-");
}

bool qpu__binary(struct qpu__assembler *as, const struct qpu__token *op, struct qpu__value *left,
                 const struct qpu__value *right)
{
    if (left->kind == QPU__REGISTER)
        return with_register(as, op, left, right);
    bool unknown = left->unknown || right->unknown;
    bool left_number = left->kind == QPU__INT || left->kind == QPU__FLOAT;
    bool right_number = right->kind == QPU__INT || right->kind == QPU__FLOAT;
    bool good = false;
    if (left->kind == QPU__FLOAT && right->kind == QPU__INT && (qpu__is(op, "<<") || qpu__is(op, ">>"))) {
        int by = right->integer > 4096 ? 4096 : right->integer < -4096 ? -4096 : (int)right->integer;
        left->real = ldexp(left->real, qpu__is(op, "<<") ? by : -by);
        good = true;
    } else if (left->kind == QPU__INT && right->kind == QPU__INT) {
        good = integers(as, op, &left->integer, right->integer);
    } else if (left_number && right_number) {
        good = floats(as, op, left, left->kind == QPU__INT ? (double)left->integer : left->real,
                      right->kind == QPU__INT ? (double)right->integer : right->real);
    } else if (left->kind == QPU__LABEL && right->kind == QPU__INT && is_additive(op)) {
        good = integers(as, op, &left->integer, right->integer);
    } else if (left->kind == QPU__SEMAPHORE && right->kind == QPU__INT && qpu__is(op, "+")) {
        left->integer = (left->integer & 16) | ((left->integer + (right->integer & 15)) & 15);
        good = true;
    } else if (left->kind == QPU__LABEL && right->kind == QPU__LABEL && !is_additive(op) && op->length <= 2 &&
               (qpu__is(op, "<") || qpu__is(op, "<=") || qpu__is(op, ">") || qpu__is(op, ">=") || qpu__is(op, "==") ||
                qpu__is(op, "!="))) {
        good = integers(as, op, &left->integer, right->integer);
        left->kind = QPU__INT;
    } else if (left->kind == QPU__LABEL && right->kind == QPU__LABEL && qpu__is(op, "-")) {
        left->integer -= right->integer;
        left->kind = QPU__INT;
        left->relative = false;
        good = true;
    } else {
        return no_operation(as, op, left, right);
    }
    left->unknown = unknown;
    return good;
}
