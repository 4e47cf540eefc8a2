/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Directives of one line: constants, data, alignment, assertions, other files. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 24 };

/* Parameters in parentheses, or separated by commas after the name of a macro. */
bool qpu__define_function(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__function **function)
{
    enum { MOST = 32 };
    const struct qpu__token *list[MOST];
    size_t count = 0;
    bool parentheses = qpu__is(*at, "(");
    if (parentheses || qpu__is(*at, ","))
        ++*at;
    while ((*at)->kind == QPU__NAME) {
        if (count == MOST)
            return qpu__error(as, *at, "more than %d parameters", MOST);
        list[count++] = (*at)++;
        if (!qpu__is(*at, ","))
            break;
        ++*at;
    }
    if (parentheses) {
        if (!qpu__is(*at, ")"))
            return qpu__error(as, *at, "expected ')'");
        ++*at;
    }
    *function = qpu__alloc(&as->arena, sizeof **function);
    if (!*function)
        return false;
    (*function)->parameter_count = count;
    (*function)->parameters = qpu__alloc(&as->arena, (count + 1) * sizeof *(*function)->parameters);
    if (!(*function)->parameters)
        return false;
    memcpy((*function)->parameters, list, count * sizeof *list);
    return true;
}

/* .set name, value   .set name(a, b) expression */
static bool set(struct qpu__assembler *as, const struct qpu__token *at)
{
    bool local = at->text[0] == 'l';
    bool final = qpu__is(at, "const") || qpu__is(at, "lconst");
    struct qpu__scope *scope = local ? as->scope : as->global;
    const struct qpu__token *name = ++at;
    struct qpu__function *function = NULL;
    struct qpu__value value = {.kind = QPU__INT};
    if (name->kind != QPU__NAME)
        return qpu__error(as, name, "expected a name");
    at++;
    if (qpu__is(at, "(")) {
        if (!qpu__define_function(as, &at, &function))
            return false;
        if (qpu__is(at, ","))
            at++;
        function->expression = at;
    } else {
        if (qpu__is(at, ",") || qpu__is(at, "="))
            at++;
        if (!qpu__expression(as, &at, &value) || !qpu__at_end(as, at))
            return false;
    }
    struct qpu__symbol *symbol = qpu__set_symbol(as, scope, name, value, final);
    if (symbol)
        symbol->function = function;
    return symbol;
}

static bool unset(struct qpu__assembler *as, const struct qpu__token *at)
{
    const struct qpu__token *name = at + 1;
    if (name->kind != QPU__NAME)
        return qpu__error(as, name, "expected a name");
    return qpu__unset_symbol(as, as->scope, name) && qpu__at_end(as, name + 1);
}

static bool datum(struct qpu__assembler *as, const struct qpu__token *at, struct qpu__value *value, int size,
                  bool as_float)
{
    uint8_t bytes[8];
    uint64_t bits;
    if (as_float && value->kind == QPU__INT)
        *value = (struct qpu__value){.kind = QPU__FLOAT, .real = (double)value->integer};
    if (size == 8 && value->kind == QPU__INT) {
        bits = (uint64_t)value->integer;
    } else {
        uint32_t word;
        if (!qpu__word_of(as, at, value, &word))
            return false;
        int64_t number = value->integer;
        if (size < 4 && (value->kind != QPU__INT || number < -(1 << (8 * size - 1)) || number >= 1 << 8 * size))
            return qpu__error(as, at, "this does not fit %d bits", 8 * size);
        bits = word;
    }
    for (int i = 0; i < size; i++)
        bytes[i] = (uint8_t)(bits >> 8 * i);
    return qpu__emit(as, at, bytes, (size_t)size, true);
}

static bool data(struct qpu__assembler *as, const struct qpu__token *at, int size, bool as_float)
{
    do {
        struct qpu__value value;
        const struct qpu__token *start = ++at;
        if (!qpu__expression(as, &at, &value) || !datum(as, start, &value, size, as_float))
            return false;
    } while (qpu__is(at, ","));
    return qpu__at_end(as, at);
}

static bool align(struct qpu__assembler *as, const struct qpu__token *at)
{
    static const uint8_t zero;
    int64_t step;
    const struct qpu__token *start = ++at;
    if (!qpu__known_integer(as, &at, &step, "an alignment") || !qpu__at_end(as, at))
        return false;
    if (step < 1 || step > 4096 || (step & (step - 1)))
        return qpu__error(as, start, "an alignment is a power of two up to 4096, not %lld", (long long)step);
    static const uint8_t nop[8] = {0x00, 0x70, 0x9e, 0x00, 0xe7, 0x09, 0x00, 0x10};
    while (as->size % 8 && as->size % (size_t)step)
        if (!qpu__emit(as, start, &zero, 1, true))
            return false;
    while (as->size % (size_t)step)
        if (!qpu__emit(as, start, nop, sizeof nop, false))
            return false;
    return true;
}

static bool assertion(struct qpu__assembler *as, const struct qpu__token *at)
{
    bool truth;
    const struct qpu__token *start = ++at;
    if (as->pass == 1 && !as->result)
        return true; /* labels are not known yet */
    if (!qpu__truth(as, &at, &truth, as->pass == 2))
        return false;
    if (qpu__is(at, ","))
        at++;
    if (!truth)
        return at->kind == QPU__STRING ? qpu__error(as, start, "%.*s", at->length, at->text)
                                       : qpu__error(as, start, "the assertion does not hold");
    return qpu__at_end(as, at->kind == QPU__STRING ? at + 1 : at);
}

static char *read_file(struct qpu__assembler *as, const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    size_t capacity = 0;
    char *text = NULL;
    *size = 0;
    if (!file)
        return NULL;
    for (int c; (c = getc(file)) != EOF && *size < LARGEST_FILE;) {
        void *grown = qpu__grow(&as->arena, text, *size, &capacity, 1);
        if (!grown)
            break;
        text = grown;
        text[(*size)++] = (char)c;
    }
    bool failed = ferror(file) || *size == LARGEST_FILE;
    fclose(file);
    if (!text && !failed)
        text = qpu__copy(&as->arena, "", 0);
    return failed ? NULL : text;
}

static struct qpu__source *open_source(struct qpu__assembler *as, const char *path)
{
    size_t size;
    for (struct qpu__source *s = as->sources; s; s = s->next)
        if (!strcmp(s->file, path))
            return s;
    char *text = read_file(as, path, &size);
    struct qpu__source *source = text ? qpu__lex(&as->arena, path, text, size) : NULL;
    if (source) {
        source->number = as->source_count++;
        source->next = as->sources;
        as->sources = source;
    }
    return source;
}

static bool include(struct qpu__assembler *as, const struct qpu__token *at)
{
    const struct qpu__token *name = at + 1;
    char path[1024];
    struct qpu__source *source = NULL;
    if (name->kind != QPU__STRING)
        return qpu__error(as, name, "expected .include \"file\"");
    if (!qpu__at_end(as, name + 1))
        return false;
    if (name->length == 8 && !memcmp(name->text, "vc4.qinc", 8))
        return true; /* what it defines is built in */
    if (as->options->no_files)
        return qpu__error(as, name, "no other files may be included here");
    if (as->depth >= QPU__DEEPEST)
        return qpu__error(as, name, "files are nested too deeply");
    const char *slash = strrchr(name->source->file, '/');
    int folder = slash && name->text[0] != '/' ? (int)(slash - name->source->file) + 1 : 0;
    int length = snprintf(path, sizeof path, "%.*s%.*s", folder, name->source->file, name->length, name->text);
    if (length > 0 && (size_t)length < sizeof path)
        source = open_source(as, path);
    for (size_t i = 0; i < as->options->include_folder_count && !source && name->text[0] != '/'; i++) {
        length = snprintf(path, sizeof path, "%s/%.*s", as->options->include_folders[i], name->length, name->text);
        if (length > 0 && (size_t)length < sizeof path)
            source = open_source(as, path);
    }
    if (!source)
        return qpu__error(as, name, "'%.*s' cannot be read", name->length, name->text);
    as->depth++;
    qpu__run_lines(as, source, 0, source->line_count);
    as->depth--;
    return true;
}

bool qpu__directive(struct qpu__assembler *as, const struct qpu__token *at)
{
    static const struct {
        const char *name;
        int size;
        bool as_float;
    } data_directives[] = {{"byte", 1, false}, {"short", 2, false}, {"int", 4, false},
                           {"word", 4, false}, {"long", 8, false},  {"float", 4, true}};
    static const char *const setters[] = {"set", "const", "lset", "lconst", "equ", "define"};
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++)
        if (qpu__is(at, setters[i]))
            return set(as, at);
    if (qpu__is(at, "unset") || qpu__is(at, "lunset"))
        return unset(as, at);
    if (qpu__is(at, "assert"))
        return assertion(as, at);
    if (as->result)
        return qpu__error(as, at, ".%.*s has no place in a function", at->length, at->text);
    for (size_t i = 0; i < sizeof data_directives / sizeof *data_directives; i++)
        if (qpu__is(at, data_directives[i].name))
            return data(as, at, data_directives[i].size, data_directives[i].as_float);
    if (qpu__is(at, "align"))
        return align(as, at);
    if (qpu__is(at, "include"))
        return include(as, at);
    return qpu__error(as, at, "there is no directive .%.*s, or nothing that it could end", at->length, at->text);
}
