/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The two passes from end to end. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static const struct qpu_assemble_options no_options;

static bool define_constants(struct qpu__assembler *as)
{
    for (size_t i = 0; i < as->options->define_count; i++) {
        const struct qpu_define *define = &as->options->defines[i];
        struct qpu__source *name = qpu__lex(&as->arena, "command line", define->name, strlen(define->name));
        struct qpu__source *text = qpu__lex(&as->arena, "command line", define->expression, strlen(define->expression));
        struct qpu__value value;
        if (!name || !text)
            return false;
        const struct qpu__token *at = text->lines[0], *token = name->lines[0];
        if (token->kind != QPU__NAME || token[1].kind != QPU__END)
            qpu__error(as, token, "a constant's name is expected");
        else if (qpu__expression(as, &at, &value) && qpu__at_end(as, at))
            qpu__set_symbol(as, as->global, token, value, false);
    }
    return true;
}

static void run_pass(struct qpu__assembler *as, int pass, struct qpu__source *source)
{
    qpu__forget_diagnostics(as);
    as->pass = pass;
    as->size = 0;
    as->steps = 0;
    as->label_next = 0;
    as->macros = NULL;
    as->stopped = false;
    as->global->symbols = NULL;
    for (size_t i = 0; i < as->label_count; i++)
        as->labels[i].met = false;
    if (define_constants(as))
        qpu__run_lines(as, source, 0, source->line_count);
}

static void assemble(struct qpu__assembler *as, const char *file, const char *text, size_t size)
{
    struct qpu__scope global = {0};
    struct qpu__source *source = qpu__lex(&as->arena, file, text, size);
    if (!source)
        return;
    source->number = as->source_count++;
    as->sources = source;
    as->global = as->scope = &global;
    run_pass(as, 1, source);
    if (as->stopped || as->arena.exhausted)
        return;
    run_pass(as, 2, source);
    if (!as->error_count && !as->arena.exhausted && !as->options->no_check)
        qpu__check(as);
}

/* Told without memory: the arena is given up and this stands in its place. */
static struct qpu_diagnostic no_memory = {"qpu-as", 1, 1, false, QPU_RULE_NONE, "out of memory"};

int qpu_assemble(struct qpu_program *program, const char *file, const char *text, size_t size,
                 const struct qpu_assemble_options *options)
{
    struct qpu__assembler as = {.options = options ? options : &no_options};
    *program = (struct qpu_program){0};
    assemble(&as, file, text, size);
    if (!as.arena.exhausted)
        qpu__sort_diagnostics(&as);
    struct qpu__arena *kept = as.arena.exhausted ? NULL : malloc(sizeof *kept);
    if (!kept) {
        qpu__arena_free(&as.arena);
        program->diagnostics = &no_memory;
        program->diagnostic_count = program->error_count = 1;
        return -1;
    }
    *kept = as.arena;
    *program = (struct qpu_program){.bytes = as.bytes,
                                    .size = as.error_count ? 0 : as.size,
                                    .diagnostics = as.diagnostics,
                                    .diagnostic_count = as.diagnostic_count,
                                    .error_count = as.error_count,
                                    .memory = kept};
    return as.error_count ? -1 : 0;
}

void qpu_program_free(struct qpu_program *program)
{
    if (program->memory)
        qpu__arena_free(program->memory);
    free(program->memory);
    *program = (struct qpu_program){0};
}

bool qpu_assemble_word(uint64_t *word, const char *text)
{
    struct qpu__scope global = {0};
    struct qpu__assembler as = {.options = &no_options, .pass = 2, .single = true, .global = &global, .scope = &global};
    struct qpu__source *source = qpu__lex(&as.arena, "", text, strlen(text));
    bool good = source && source->line_count == 1 && qpu__instruction(&as, source->lines[0], word);
    good = good && !as.error_count && !as.arena.exhausted;
    qpu__arena_free(&as.arena);
    return good;
}
