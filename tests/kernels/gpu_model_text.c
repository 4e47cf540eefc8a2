/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Reads the macros that lib/gpu generates. */
#include "gpu_model_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned gpu_model_constant(const struct run *run, const char *name)
{
    char line[64];
    const char *at;
    snprintf(line, sizeof line, "#define %s ", name);
    at = strstr(run->text, line);
    return at ? (unsigned)strtoul(at + strlen(line), NULL, 10) : 0;
}

/* ---------------------------------------------------------------- macros ---------------------- */

static void note_macro(struct macro *macro, const char *name)
{
    *macro = (struct macro){.name = name, .length = strcspn(name, " (\n"), .body = name + strcspn(name, " (\n")};
    if (macro->body[0] == '(' && macro->body[1] == 'X')
        macro->body += 3;
}

bool gpu_model_read(struct run *run)
{
    static const char word[] = "#define ";
    unsigned lines = 1;
    for (const char *at = run->text; (at = strchr(at, '\n')); at++)
        lines++;
    run->macro_count = 0;
    if (!(run->macros = calloc(lines, sizeof *run->macros)))
        return false;
    for (const char *at = run->text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (!strncmp(at, word, strlen(word)))
            note_macro(&run->macros[run->macro_count++], at + strlen(word));
    }
    return true;
}

void gpu_model_unread(struct run *run)
{
    for (unsigned i = 0; run->macros && i < run->macro_count; i++)
        free(run->macros[i].list.operation);
    free(run->macros);
    run->macros = NULL;
}

static struct macro *macro_of(const struct run *run, const char *name)
{
    for (unsigned i = 0; i < run->macro_count; i++)
        if (run->macros[i].length == strlen(name) && !strncmp(run->macros[i].name, name, run->macros[i].length))
            return &run->macros[i];
    return NULL;
}

/* ---------------------------------------------------------------- calls ----------------------- */

static enum call call_of(const char *name)
{
    static const struct {
        const char *name;
        enum call call;
    } calls[] = {{"LOAD", CALL_LOAD},
                 {"LOAD_IF_ANY", CALL_LOAD_IF_ANY},
                 {"ZERO", CALL_ZERO},
                 {"TWIDDLE", CALL_TWIDDLE},
                 {"TWIDDLE_AT", CALL_TWIDDLE_AT},
                 {"TWIDDLE_READ", CALL_TWIDDLE_READ},
                 {"TWIDDLE_MAKE", CALL_TWIDDLE_MAKE},
                 {"TWIDDLE_USE", CALL_TWIDDLE_USE},
                 {"X", CALL_EXCHANGED},
                 {"PRODUCT_AT", CALL_PRODUCT_AT},
                 {"FINISH", CALL_FINISH},
                 {"FINISH_ANYWHERE", CALL_FINISH_ANYWHERE},
                 {"FINISH_TURNED", CALL_FINISH_TURNED},
                 {"LEAVE_TURNED", CALL_LEAVE_TURNED},
                 {"RADER_LOAD", CALL_RADER_LOAD}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (!strcmp(name, calls[i].name))
            return calls[i].call;
    return !strncmp(name, "DFT", 3) ? CALL_DFT : CALL_UNKNOWN;
}

static enum kind kind_of(const char *word)
{
    static const char *const kinds[] = {
        [KIND_SHORT] = "SHORT", [KIND_ONE] = "ONE", [KIND_EVEN] = "EVEN", [KIND_LONG] = "LONG"};
    for (unsigned kind = KIND_SHORT; kind <= KIND_LONG; kind++)
        if (!strncmp(word, kinds[kind], strlen(kinds[kind])))
            return (enum kind)kind;
    return KIND_NONE;
}

static const char *read_call(struct operation *operation, const char *at)
{
    size_t length = strcspn(at, "( \n");
    snprintf(operation->name, sizeof operation->name, "%.*s", (int)length, at);
    operation->call = call_of(operation->name);
    at += length;
    if (*at != '(')
        return at;
    for (at++; *at != ')'; at += strspn(at, ", ")) {
        length = strcspn(at, ",)");
        if (*at >= '0' && *at <= '9')
            operation->number[operation->count++] = (unsigned)strtoul(at, NULL, 10);
        else
            operation->kind = kind_of(at);
        at += length;
    }
    return at + 1;
}

/* "if (lane < 5)", "if (lane >= 2 && lane < 5)", "if (lane >= 2)" */
static const char *read_condition(unsigned *from, unsigned *to, const char *at)
{
    const char *end = strchr(at, ')'), *least = strstr(at, ">= "), *limit = strstr(at, "< ");
    if (least && least < end)
        *from = (unsigned)strtoul(least + 3, NULL, 10);
    if (limit && limit < end)
        *to = (unsigned)strtoul(limit + 2, NULL, 10);
    return end + 1;
}

/* One more, uninitialised; NULL without memory. */
static struct operation *append(struct list *list)
{
    if ((list->count & (list->count + 1)) == 0) { /* 0, 1, 3, 7, ...: full */
        struct operation *more = realloc(list->operation, (2 * list->count + 1) * sizeof *more);
        if (!more)
            return NULL;
        list->operation = more;
    }
    return &list->operation[list->count++];
}

static bool parse(struct list *list, const char *at, unsigned lanes)
{
    unsigned from = 0, to = lanes, other = lanes;
    bool block = false;
    while (*(at += strspn(at, " ;")) != '\n') {
        if (!strncmp(at, "if (", 4)) {
            at = read_condition(&from, &to, at);
            other = to;
        } else if (!strncmp(at, "else {", 6)) {
            from = other;
            to = lanes;
            block = true;
            at += 6;
        } else if (*at == '{') {
            block = true;
            at++;
        } else if (*at == '}') {
            block = false;
            from = 0;
            to = lanes;
            at++;
        } else {
            struct operation *operation = append(list);
            if (!operation)
                return false;
            *operation = (struct operation){.from = from, .to = to};
            at = read_call(operation, at);
            if (!block) {
                from = 0;
                to = lanes;
            }
        }
    }
    return true;
}

const struct list *gpu_model_parse(struct run *run, const char *name)
{
    struct macro *macro = macro_of(run, name);
    if (macro && !macro->parsed)
        macro->parsed = parse(&macro->list, macro->body, run->pass->config.lanes);
    return macro && macro->parsed ? &macro->list : NULL;
}
