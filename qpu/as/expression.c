/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Expressions: operators of C (and ** <<< >>> ^^) over integers, floats, registers and labels, by precedence. */
#include "internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bool ternary(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *value);

const char *qpu__kind_name(const struct qpu__value *value)
{
    static const char *const names[] = {
        [QPU__INT] = "an integer",          [QPU__FLOAT] = "a float",
        [QPU__LABEL] = "a label",           [QPU__ELEMENTS] = "a constant per element",
        [QPU__SMALL] = "a small immediate", [QPU__REGISTER] = "a register",
        [QPU__SEMAPHORE] = "a semaphore",
    };
    return names[value->kind];
}

static bool expect(struct qpu__assembler *as, const struct qpu__token **at, const char *sign)
{
    if (!qpu__is(*at, sign))
        return qpu__error(as, *at, "expected '%s'", sign);
    ++*at;
    return true;
}

/* [a, b, ...]: bit 16 + i is the high bit of element i, bit i its low bit. */
static bool elements(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *value)
{
    const struct qpu__token *start = (*at)++;
    int64_t lowest = 0, highest = 0, bits = 0;
    int count = 0;
    do {
        int64_t element = 0;
        const struct qpu__token *here = *at;
        if (!qpu__known_integer(as, at, &element, "an element"))
            return false;
        if (count == 16 || element < -2 || element > 3)
            return qpu__error(as, here, "a constant per element has 16 elements of -2 .. 1 or of 0 .. 3");
        lowest = element < lowest ? element : lowest;
        highest = element > highest ? element : highest;
        bits |= (element >> 1 & 1) << (16 + count) | (element & 1) << count;
        count++;
    } while (qpu__is(*at, ",") && (*at)++);
    if (!expect(as, at, "]"))
        return false;
    if (count != 16 || (lowest < 0 && highest > 1))
        return qpu__error(as, start, "a constant per element has 16 elements of -2 .. 1 or of 0 .. 3");
    *value = (struct qpu__value){.kind = QPU__ELEMENTS, .integer = bits, .is_signed = lowest < 0};
    return true;
}

static bool arguments(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *list, size_t limit,
                      size_t *count)
{
    ++*at; /* ( */
    *count = 0;
    if (qpu__is(*at, ")")) {
        ++*at;
        return true;
    }
    for (;;) {
        if (*count == limit)
            return qpu__error(as, *at, "more than %zu arguments", limit);
        if (!ternary(as, at, &list[*count]))
            return false;
        ++*count;
        if (!qpu__is(*at, ","))
            return expect(as, at, ")");
        ++*at;
    }
}

enum { MOST_ARGUMENTS = 16 };

static bool call(struct qpu__assembler *as, const struct qpu__token **at, const struct qpu__function *function,
                 const struct qpu__builtin *builtin, struct qpu__value *value)
{
    struct qpu__value list[MOST_ARGUMENTS];
    const struct qpu__token *name = (*at)++;
    size_t count;
    if (!arguments(as, at, list, MOST_ARGUMENTS, &count))
        return false;
    if (function)
        return qpu__call(as, function, "function", name, list, count, value);
    return qpu__call_builtin(as, builtin, name, list, count, value);
}

static bool semaphore(const struct qpu__token *name, struct qpu__value *value)
{
    int number = 0;
    if (name->length < 5 || name->length > 6 || (memcmp(name->text, "sacq", 4) && memcmp(name->text, "srel", 4)))
        return false;
    for (int i = 4; i < name->length; i++) {
        if (name->text[i] < '0' || name->text[i] > '9')
            return false;
        number = number * 10 + name->text[i] - '0';
    }
    *value = (struct qpu__value){.kind = QPU__SEMAPHORE, .integer = number | (name->text[1] == 'a' ? 16 : 0)};
    return number < 16;
}

static bool label(struct qpu__assembler *as, const struct qpu__token **at, bool relative, struct qpu__value *value)
{
    const struct qpu__token *name = *at + (relative ? 2 : 1);
    if (name->kind != QPU__NAME && name->kind != QPU__LOCAL)
        return qpu__error(as, name, "expected a label: name, or number with f or b");
    *at = name + 1;
    if (!qpu__label_value(as, name, value))
        return false;
    value->relative = relative;
    return true;
}

static bool named(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *value)
{
    const struct qpu__token *name = *at;
    bool called = qpu__is(name + 1, "(");
    const struct qpu__symbol *symbol = qpu__find_symbol(as, name->text, name->length);
    if (symbol && symbol->function) {
        if (!called)
            return qpu__error(as, name, "function '%.*s' needs its arguments", name->length, name->text);
        return call(as, at, symbol->function, NULL, value);
    }
    if (symbol) {
        *value = symbol->value;
        ++*at;
        return true;
    }
    const struct qpu__builtin *builtin = qpu__find_builtin(name->text, name->length);
    if (builtin && called)
        return call(as, at, NULL, builtin, value);
    *value = (struct qpu__value){.kind = QPU__REGISTER};
    if (qpu__find_register(&value->reg, name->text, name->length) || semaphore(name, value)) {
        ++*at;
        return true;
    }
    if (qpu__is(name, "r") && qpu__is(name + 1, ":"))
        return label(as, at, true, value);
    return qpu__error(as, name, "'%.*s' is not known", name->length, name->text);
}

static bool suffixes(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *value)
{
    for (; (*at)->kind == QPU__SUFFIX; ++*at) {
        struct qpu__register *reg = &value->reg;
        if (value->kind != QPU__REGISTER)
            return qpu__error(as, *at, "%s has no '.%.*s'", qpu__kind_name(value), (*at)->length, (*at)->text);
        if (reg->suffix_count == sizeof reg->suffixes / sizeof *reg->suffixes)
            return qpu__error(as, *at, "too many suffixes");
        reg->suffixes[reg->suffix_count++] = *at;
    }
    return true;
}

static bool primary(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *value)
{
    const struct qpu__token *token = *at;
    if (token->kind == QPU__INTEGER || token->kind == QPU__REAL) {
        *value = (struct qpu__value){
            .kind = token->kind == QPU__REAL ? QPU__FLOAT : QPU__INT, .integer = token->integer, .real = token->real};
        ++*at;
        return true;
    }
    if (token->kind == QPU__NAME)
        return named(as, at, value) && suffixes(as, at, value);
    if (qpu__is(token, ":"))
        return label(as, at, false, value);
    if (qpu__is(token, "["))
        return elements(as, at, value);
    if (qpu__is(token, "(")) {
        ++*at;
        return ternary(as, at, value) && expect(as, at, ")") && suffixes(as, at, value);
    }
    return qpu__error(as, token, token->kind == QPU__END ? "an operand is missing" : "expected a value, not '%.*s'",
                      token->length, token->text);
}

static bool unary(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *value)
{
    const struct qpu__token *token = *at;
    bool good;
    if (as->depth >= QPU__DEEPEST)
        return qpu__error(as, token, "nested too deeply");
    as->depth++;
    if (token->kind == QPU__PUNCTUATION && token->length == 1 && strchr("+-~!", *token->text)) {
        ++*at;
        good = unary(as, at, value) && qpu__unary(as, token, value);
    } else {
        good = primary(as, at, value);
    }
    as->depth--;
    return good;
}

static int precedence(const struct qpu__token *token)
{
    static const struct {
        const char *sign;
        int level;
    } table[] = {{"**", 12}, {"*", 11},  {"/", 11}, {"%", 11}, {"+", 10}, {"-", 10}, {"<<", 9}, {">>", 9},
                 {"<<<", 9}, {">>>", 9}, {"<", 8},  {"<=", 8}, {">", 8},  {">=", 8}, {"==", 7}, {"!=", 7},
                 {"&", 6},   {"^", 5},   {"|", 4},  {"&&", 3}, {"^^", 2}, {"||", 1}};
    if (token->kind == QPU__PUNCTUATION)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            if (qpu__is(token, table[i].sign))
                return table[i].level;
    return 0;
}

/* Operators of at least this level, left to right; ** right to left. */
static bool binary(struct qpu__assembler *as, const struct qpu__token **at, int lowest, struct qpu__value *value)
{
    if (!unary(as, at, value))
        return false;
    for (int level; (level = precedence(*at)) >= lowest && level;) {
        const struct qpu__token *op = (*at)++;
        struct qpu__value right;
        as->depth++;
        bool good = binary(as, at, level == 12 ? level : level + 1, &right);
        as->depth--;
        if (!good || !qpu__binary(as, op, value, &right))
            return false;
    }
    return true;
}

static bool ternary(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *value)
{
    struct qpu__value other;
    const struct qpu__token *start = *at;
    if (!binary(as, at, 1, value))
        return false;
    if (!qpu__is(*at, "?"))
        return true;
    if ((value->kind != QPU__INT && value->kind != QPU__FLOAT) || value->unknown)
        return qpu__error(as, start, "a condition must be a number known here");
    bool truth = value->kind == QPU__INT ? value->integer != 0 : value->real != 0.0;
    ++*at;
    return ternary(as, at, truth ? value : &other) && expect(as, at, ":") && ternary(as, at, truth ? &other : value);
}

bool qpu__expression(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *value)
{
    *value = (struct qpu__value){0};
    return ternary(as, at, value);
}

bool qpu__known_integer(struct qpu__assembler *as, const struct qpu__token **at, int64_t *integer, const char *what)
{
    struct qpu__value value;
    const struct qpu__token *start = *at;
    if (!qpu__expression(as, at, &value))
        return false;
    if (value.kind != QPU__INT)
        return qpu__error(as, start, "%s must be an integer, not %s", what, qpu__kind_name(&value));
    if (value.unknown)
        return qpu__error(as, start, "%s depends on a label further on", what);
    *integer = value.integer;
    return true;
}

bool qpu__truth(struct qpu__assembler *as, const struct qpu__token **at, bool *truth, bool with_later_labels)
{
    struct qpu__value value;
    const struct qpu__token *start = *at;
    if (!qpu__expression(as, at, &value))
        return false;
    if (value.kind != QPU__INT && value.kind != QPU__FLOAT)
        return qpu__error(as, start, "a condition must be a number, not %s", qpu__kind_name(&value));
    if (value.unknown && !with_later_labels)
        return qpu__error(as, start, "a condition may not depend on a label further on");
    *truth = value.kind == QPU__INT ? value.integer != 0 : value.real != 0.0;
    return true;
}

bool qpu__at_end(struct qpu__assembler *as, const struct qpu__token *at)
{
    return at->kind == QPU__END || qpu__error(as, at, "'%.*s' is too much here", at->length, at->text);
}

bool qpu__word_of(struct qpu__assembler *as, const struct qpu__token *at, const struct qpu__value *value,
                  uint32_t *word)
{
    if (value->kind == QPU__FLOAT) {
        if (isfinite(value->real) && fabs(value->real) > FLT_MAX)
            return qpu__error(as, at, "%g does not fit 32 bits", value->real);
        float number = (float)value->real;
        memcpy(word, &number, sizeof number);
        return true;
    }
    if (value->kind == QPU__REGISTER || value->kind == QPU__SEMAPHORE || value->kind == QPU__SMALL)
        return qpu__error(as, at, "expected a constant, not %s", qpu__kind_name(value));
    if (value->relative)
        return qpu__error(as, at, "r: makes a label relative to a branch, this is none");
    if (value->integer < INT32_MIN || value->integer > (int64_t)UINT32_MAX)
        return qpu__error(as, at, "%lld does not fit 32 bits", (long long)value->integer);
    *word = (uint32_t)value->integer;
    return true;
}
