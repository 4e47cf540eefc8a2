/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One line's instruction: parts separated by semicolons, each an operation, a signal or a read. */
#include "operation.h"

#include <string.h>

/* Unary operations may name a second source: the word has room for one, which does nothing. */
static bool is_unary(int add_op)
{
    return add_op == QPU_FTOI || add_op == QPU_ITOF || add_op == QPU_NOT || add_op == QPU_CLZ;
}

static int find_name(const struct qpu__token *token, const char *(*name)(unsigned), unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (name(i) && *name(i) && qpu__is(token, name(i)))
            return (int)i;
    return -1;
}

static int find_signal(const struct qpu__token *token)
{
    return token->kind == QPU__NAME ? find_name(token, qpu_signal_name, 16) : -1;
}

static bool find_operation(struct qpu__assembler *as, const struct qpu__token *at, struct qpu__operation *op)
{
    *op = (struct qpu__operation){.at = at, .to.condition = -1};
    op->read = qpu__is(at, "read");
    op->move = qpu__is(at, "mov");
    op->add_op = op->move ? QPU_OR : find_name(at, qpu_add_op_name, 32);
    op->mul_op = op->move ? QPU_V8MIN : find_name(at, qpu_mul_op_name, 8);
    if (qpu__is(at, "v8mul"))
        op->mul_op = QPU_V8MULD;
    if (op->add_op >= 0 || op->mul_op >= 0 || op->read)
        return true;
    return qpu__error(as, at, "'%.*s' is no instruction, signal or macro", at->length, at->text);
}

static bool end_of_part(struct qpu__assembler *as, const struct qpu__token *at)
{
    return at->kind == QPU__END || qpu__is(at, ";") ||
           qpu__error(as, at, "'%.*s' is too much here", at->length, at->text);
}

static bool read_operation(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__operation *op)
{
    if (!find_operation(as, *at, op))
        return false;
    ++*at;
    if (!qpu__read_suffixes(as, at, op))
        return false;
    if (op->read)
        return qpu__read_operand(as, at, op) && end_of_part(as, *at);
    if (op->add_op == QPU_ADD_NOP) {
        if (op->to.condition >= 0 || op->to.pack)
            return qpu__error(as, op->at, "nop has no result");
        return end_of_part(as, *at);
    }
    if (!qpu__read_destination(as, at, op, &op->to) || !qpu__comma(as, at) || !qpu__read_operand(as, at, op))
        return false;
    if (op->move || (is_unary(op->add_op) && !qpu__is(*at, ",")))
        return end_of_part(as, *at);
    return qpu__comma(as, at) && qpu__read_operand(as, at, op) && end_of_part(as, *at);
}

static bool is_large(const struct qpu__operation *op)
{
    return op->move && op->operands == 1 && op->from[0].kind == QPU__FROM_IMMEDIATE &&
           qpu_small_immediate_code(op->from[0].word) < 0;
}

/* mov of what fits no small immediate is ldi; two of them may load the same. */
static bool as_load(const struct qpu__operation *operations, size_t count, unsigned signal)
{
    return signal == QPU_SIGNAL_NONE && count && count <= 2 && is_large(&operations[0]) &&
           (count == 1 || (is_large(&operations[1]) && operations[0].from[0].word == operations[1].from[0].word));
}

/* mov dest, [0, 1, ...] and mov dest, sacq3 */
static bool special_move(struct qpu__assembler *as, const struct qpu__token *at, bool *special, uint64_t *word)
{
    struct qpu__operation op;
    struct qpu__value value;
    *special = false;
    if (!qpu__is(at, "mov") || !find_operation(as, at, &op))
        return true;
    for (const struct qpu__token *t = at; t->kind != QPU__END; t++)
        *special |= qpu__is(t, "[") || (t->kind == QPU__NAME && t->length > 4 &&
                                        (!memcmp(t->text, "sacq", 4) || !memcmp(t->text, "srel", 4)));
    if (!*special)
        return true;
    at++;
    if (!qpu__read_suffixes(as, &at, &op) || !qpu__read_destination(as, &at, &op, &op.to) || !qpu__comma(as, &at))
        return false;
    const struct qpu__token *source = at;
    if (!qpu__expression(as, &at, &value) || !end_of_part(as, at) || !qpu__at_end(as, at))
        return false;
    if (value.kind == QPU__SEMAPHORE)
        return qpu__load(as, &op, NULL, (uint32_t)value.integer, 4, word);
    if (value.kind == QPU__ELEMENTS)
        return qpu__load(as, &op, NULL, (uint32_t)value.integer, value.is_signed ? 1 : 3, word);
    return qpu__error(as, source, "expected a semaphore or a constant per element");
}

bool qpu__instruction(struct qpu__assembler *as, const struct qpu__token *at, uint64_t *word)
{
    enum { MOST = 4 };
    struct qpu__operation operations[MOST];
    const struct qpu__token *start = at;
    size_t count = 0;
    unsigned signal = QPU_SIGNAL_NONE;
    bool special;
    if (at->kind != QPU__NAME && !qpu__is(at, ";"))
        return qpu__error(as, at, "expected an instruction, not '%.*s'", at->length, at->text);
    if (qpu__is_special(at))
        return qpu__special(as, &at, word) && qpu__at_end(as, at);
    if (!special_move(as, at, &special, word))
        return false;
    if (special)
        return true;
    for (;; at++) {
        int number = find_signal(at);
        if (number >= 0) {
            if (signal != QPU_SIGNAL_NONE)
                return qpu__error(as, at, "an instruction has one signal");
            signal = (unsigned)number;
            at++;
            if (!end_of_part(as, at))
                return false;
        } else if (at->kind != QPU__END && !qpu__is(at, ";")) {
            if (qpu__is_special(at))
                return qpu__error(as, at, "'%.*s' stands alone in its instruction", at->length, at->text);
            if (count == MOST)
                return qpu__error(as, at, "too many parts in one instruction");
            if (!read_operation(as, &at, &operations[count]))
                return false;
            count++;
        }
        if (at->kind == QPU__END)
            break;
    }
    if (as_load(operations, count, signal))
        return qpu__load(as, &operations[0], count > 1 ? &operations[1].to : NULL, operations[0].from[0].word, 0, word);
    return qpu__encode(as, start, operations, count, signal, word);
}
