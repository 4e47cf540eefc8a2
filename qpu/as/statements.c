/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Lines to bytes: labels, directives, macros, instructions, in two passes. */
#include "internal.h"

#include <string.h>

bool qpu__emit(struct qpu__assembler *as, const struct qpu__token *at, const void *bytes, size_t count, bool data)
{
    if (as->size + count > QPU__LARGEST_PROGRAM) {
        as->stopped = true;
        return qpu__error(as, at, "the program is larger than %d bytes", QPU__LARGEST_PROGRAM);
    }
    while (as->capacity < as->size + count) {
        void *grown = qpu__grow(&as->arena, as->bytes, as->capacity, &as->capacity, 1);
        if (!grown)
            return false;
        as->bytes = grown;
    }
    for (size_t word = as->size / 8; word <= (as->size + count - 1) / 8; word++) {
        void *grown = qpu__grow(&as->arena, as->origins, word, &as->origin_capacity, sizeof *as->origins);
        if (!grown)
            return false;
        as->origins = grown;
        as->origins[word] = (struct qpu__origin){.place = at, .scope_use = as->scope, .data = data};
    }
    memcpy(as->bytes + as->size, bytes, count);
    as->size += count;
    return true;
}

static bool emit_instruction(struct qpu__assembler *as, const struct qpu__token *at)
{
    uint64_t word = 0;
    uint8_t bytes[8];
    bool good = as->pass == 1 || qpu__instruction(as, at, &word);
    if (as->size % 8)
        return qpu__error(as, at, "an instruction at byte 0x%zx: data before it needs .align 8", as->size);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
    return qpu__emit(as, at, bytes, sizeof bytes, false) && good;
}

static const struct qpu__symbol *find_macro(const struct qpu__assembler *as, const struct qpu__token *name)
{
    for (const struct qpu__symbol *s = as->macros; s; s = s->next)
        if (s->length == name->length && !memcmp(s->name, name->text, (size_t)name->length))
            return s;
    return NULL;
}

/* Runs the body with the parameters set. The scope stays allocated: places of instructions refer to it. */
bool qpu__call(struct qpu__assembler *as, const struct qpu__function *function, const char *what,
               const struct qpu__token *name, const struct qpu__value *arguments, size_t count,
               struct qpu__value *result)
{
    char text[80];
    if (count != function->parameter_count)
        return qpu__error(as, name, "%s '%.*s' takes %zu arguments, not %zu", what, name->length, name->text,
                          function->parameter_count, count);
    as->steps += 4 + 4 * count;
    if (as->steps > QPU__MOST_STEPS) {
        as->stopped = true;
        return qpu__error(as, name, "too many uses of macros or functions");
    }
    if (as->depth >= QPU__DEEPEST)
        return qpu__error(as, name, "macros or functions are nested too deeply");
    struct qpu__scope *scope = qpu__alloc(&as->arena, sizeof *scope);
    if (!scope)
        return false;
    *scope = (struct qpu__scope){.parent = as->scope, .use = name};
    memcpy(text, what, strlen(what));
    text[strlen(what)] = ' ';
    size_t used = strlen(what) + 1, length = name->length < 60 ? (size_t)name->length : 60;
    memcpy(text + used, name->text, length);
    scope->what = qpu__copy(&as->arena, text, used + length);
    for (size_t i = 0; i < count; i++)
        if (!qpu__set_symbol(as, scope, function->parameters[i], arguments[i], false))
            return false;
    struct qpu__value *outer_result = as->result;
    bool outer_has = as->has_result, good = true;
    size_t errors = as->error_count;
    as->scope = scope;
    as->depth++;
    as->result = result;
    as->has_result = false;
    if (function->expression) {
        const struct qpu__token *at = function->expression;
        good = qpu__expression(as, &at, result) && qpu__at_end(as, at);
    } else {
        qpu__run_lines(as, function->source, function->first, function->last);
        good = as->error_count == errors;
        if (good && result && !as->has_result)
            good = qpu__error(as, name, "function '%.*s' ends without a value", name->length, name->text);
    }
    as->depth--;
    as->scope = scope->parent;
    as->result = outer_result;
    as->has_result = outer_has;
    return good;
}

static bool invoke_macro(struct qpu__assembler *as, const struct qpu__symbol *macro, const struct qpu__token *at)
{
    enum { MOST = 32 };
    struct qpu__value arguments[MOST];
    const struct qpu__token *name = at++;
    size_t count = 0;
    while (at->kind != QPU__END) {
        if (count == MOST)
            return qpu__error(as, at, "more than %d arguments", MOST);
        if (qpu__is(at, "-") && (qpu__is(at + 1, ",") || at[1].kind == QPU__END)) {
            arguments[count] = (struct qpu__value){
                .kind = QPU__REGISTER, .reg = {.address = QPU_WRITE_NOTHING, .flags = QPU__FILES | QPU__WRITE}};
            at++;
        } else if (!qpu__expression(as, &at, &arguments[count])) {
            return false;
        }
        count++;
        if (qpu__is(at, ","))
            at++;
        else if (!qpu__at_end(as, at))
            return false;
    }
    return qpu__call(as, macro->function, "macro", name, arguments, count, NULL);
}

/* Labels may stand before anything; then at most one directive, macro or instruction. */
static bool labels(struct qpu__assembler *as, const struct qpu__token **at)
{
    while (qpu__is(*at, ":") || qpu__is(*at, "::")) {
        const struct qpu__token *name = *at + 1;
        if (name->kind == QPU__END) { /* a nameless label marks a place for the reader */
            *at = name;
            return true;
        }
        if (name->kind != QPU__NAME && name->kind != QPU__INTEGER)
            return qpu__error(as, name, "expected the name or number of a label");
        if (as->result)
            return qpu__error(as, *at, "a function has no labels");
        if (!qpu__define_label(as, name))
            return false;
        *at = name + 1;
    }
    return true;
}

static bool statement(struct qpu__assembler *as, struct qpu__source *source, size_t *line, size_t last)
{
    const struct qpu__token *at = source->lines[*line];
    if (++as->steps > QPU__MOST_STEPS) {
        as->stopped = true;
        return qpu__error(as, at, "more than %d lines executed: repeated without end?", QPU__MOST_STEPS);
    }
    if (qpu__is_block(at))
        return qpu__block(as, source, line, last);
    if (!labels(as, &at))
        return false;
    if (at->kind == QPU__END)
        return true;
    if (at->kind == QPU__SUFFIX) {
        if (qpu__is_block(at))
            return qpu__error(as, at, ".%.*s starts a line of its own", at->length, at->text);
        return qpu__directive(as, at);
    }
    if (as->result) {
        if (as->has_result)
            return qpu__error(as, at, "a function has one value");
        as->has_result = true;
        return qpu__expression(as, &at, as->result) && qpu__at_end(as, at);
    }
    const struct qpu__symbol *macro = at->kind == QPU__NAME ? find_macro(as, at) : NULL;
    return macro ? invoke_macro(as, macro, at) : emit_instruction(as, at);
}

void qpu__run_lines(struct qpu__assembler *as, struct qpu__source *source, size_t first, size_t last)
{
    for (size_t line = first; line < last && !as->stopped && !as->arena.exhausted; line++)
        statement(as, source, &line, last);
}
