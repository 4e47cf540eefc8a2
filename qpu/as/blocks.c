/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks: .rep, .if, .macro, .func. Their lines are found by counting the nested ones. */
#include "internal.h"

static const char *const openers[] = {"rep", "if", "macro", "func"};
static const char *const closers[] = {"endr", "endif", "endm", "endf"};
enum { REP, IF, MACRO, FUNC, KINDS };

static int kind_of(const struct qpu__token *token, const char *const *list)
{
    if (token->kind == QPU__SUFFIX)
        for (int i = 0; i < KINDS; i++)
            if (qpu__is(token, list[i]))
                return i;
    return -1;
}

bool qpu__is_block(const struct qpu__token *directive)
{
    return kind_of(directive, openers) >= 0;
}

static bool is_else(const struct qpu__token *token)
{
    return token->kind == QPU__SUFFIX && (qpu__is(token, "else") || qpu__is(token, "elseif"));
}

/* The line of the closer, or with `branches` of the next .else or .elseif; `last` if there is none. */
static size_t find_end(const struct qpu__source *source, size_t line, size_t last, int kind, bool branches)
{
    int depth = 1;
    while (++line < last) {
        const struct qpu__token *token = source->lines[line];
        if (kind_of(token, openers) >= 0)
            depth++;
        else if (kind_of(token, closers) >= 0 && --depth == 0)
            return kind_of(token, closers) == kind ? line : last;
        else if (branches && depth == 1 && is_else(token))
            return line;
    }
    return last;
}

static bool repeat(struct qpu__assembler *as, struct qpu__source *source, size_t line, size_t end)
{
    const struct qpu__token *at = source->lines[line] + 1, *name = at;
    int64_t count;
    if (name->kind != QPU__NAME)
        return qpu__error(as, at, "expected .rep name, count");
    at++;
    if (qpu__is(at, ","))
        at++;
    if (!qpu__known_integer(as, &at, &count, "the count of .rep") || !qpu__at_end(as, at))
        return false;
    if (count < 0 || count > QPU__MOST_STEPS)
        return qpu__error(as, name, "a count of %lld is not within 0 .. %d", (long long)count, QPU__MOST_STEPS);
    if (as->depth >= QPU__DEEPEST)
        return qpu__error(as, name, "blocks are nested too deeply");
    as->depth++;
    for (int64_t i = 0; i < count && !as->stopped && !as->arena.exhausted; i++) {
        struct qpu__value value = {.kind = QPU__INT, .integer = i};
        if (!qpu__set_symbol(as, as->scope, name, value, false))
            break;
        if (++as->steps > QPU__MOST_STEPS) {
            as->stopped = true;
            qpu__error(as, name, "more than %d lines executed: repeated without end?", QPU__MOST_STEPS);
        }
        qpu__run_lines(as, source, line + 1, end);
    }
    as->depth--;
    return count == 0 || as->stopped || as->arena.exhausted || qpu__unset_symbol(as, as->scope, name);
}

static bool conditional(struct qpu__assembler *as, struct qpu__source *source, size_t line, size_t end)
{
    if (as->depth >= QPU__DEEPEST)
        return qpu__error(as, source->lines[line], "blocks are nested too deeply");
    for (;;) {
        const struct qpu__token *at = source->lines[line] + 1;
        size_t next = find_end(source, line, end + 1, IF, true);
        bool truth = true;
        bool final = qpu__is(at - 1, "else");
        if (!final && !qpu__truth(as, &at, &truth, false))
            return false;
        if (!qpu__at_end(as, at))
            return false;
        if (final && next != end)
            return qpu__error(as, source->lines[next], "nothing but .endif follows .else");
        if (truth) {
            as->depth++;
            qpu__run_lines(as, source, line + 1, next);
            as->depth--;
            return true;
        }
        if (next == end)
            return true;
        line = next;
    }
}

/* .macro name, a, b   .func name(a, b) */
static bool define(struct qpu__assembler *as, struct qpu__source *source, size_t line, size_t end, bool macro)
{
    const struct qpu__token *at = source->lines[line] + 1, *name = at;
    struct qpu__function *function;
    if (name->kind != QPU__NAME)
        return qpu__error(as, at, "expected a name");
    at++;
    if (!qpu__define_function(as, &at, &function) || !qpu__at_end(as, at))
        return false;
    function->source = source;
    function->first = line + 1;
    function->last = end;
    if (!macro) {
        struct qpu__symbol *symbol =
            qpu__set_symbol(as, as->global, name, (struct qpu__value){.kind = QPU__INT}, false);
        if (symbol)
            symbol->function = function;
        return symbol;
    }
    struct qpu__symbol *symbol = qpu__alloc(&as->arena, sizeof *symbol);
    if (!symbol)
        return false;
    *symbol =
        (struct qpu__symbol){.next = as->macros, .name = name->text, .length = name->length, .function = function};
    as->macros = symbol;
    return true;
}

bool qpu__block(struct qpu__assembler *as, struct qpu__source *source, size_t *line, size_t last)
{
    size_t first = *line;
    const struct qpu__token *directive = source->lines[first];
    int kind = kind_of(directive, openers);
    size_t end = find_end(source, first, last, kind, false);
    if (end == last) {
        *line = last;
        return qpu__error(as, directive, ".%s has no .%s", openers[kind], closers[kind]);
    }
    *line = end;
    if (!qpu__at_end(as, source->lines[end] + 1))
        return false;
    if (kind == REP)
        return repeat(as, source, first, end);
    if (kind == IF)
        return conditional(as, source, first, end);
    return define(as, source, first, end, kind == MACRO);
}
