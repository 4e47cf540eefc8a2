/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Text to lines of tokens. What cannot be a token becomes one that carries the message, told when it is executed. */
#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lexer {
    struct qpu__arena *arena;
    struct qpu__source *source;
    const char *at, *end, *line_start;
    int line;
    struct qpu__token *tokens; /* of this line */
    size_t count, capacity, line_capacity;
};

static bool letter(int c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool alphanumeric(int c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static int peek(const struct lexer *lexer, int ahead)
{
    return lexer->end - lexer->at > ahead ? lexer->at[ahead] : 0;
}

static struct qpu__token *add(struct lexer *lexer, enum qpu__token_kind kind, const char *text, int length)
{
    void *grown = qpu__grow(lexer->arena, lexer->tokens, lexer->count, &lexer->capacity, sizeof *lexer->tokens);
    if (!grown)
        return NULL;
    lexer->tokens = grown;
    struct qpu__token *token = &lexer->tokens[lexer->count++];
    *token = (struct qpu__token){.kind = kind,
                                 .line = lexer->line,
                                 .column = (int)(text - lexer->line_start) + 1,
                                 .text = text,
                                 .length = length,
                                 .source = lexer->source};
    return token;
}

static void wrong(struct lexer *lexer, const char *message)
{
    struct qpu__token *token = add(lexer, QPU__WRONG, lexer->at, 1);
    if (token) {
        token->text = message;
        token->length = (int)strlen(message);
    }
}

static void end_line(struct lexer *lexer)
{
    struct qpu__source *source = lexer->source;
    add(lexer, QPU__END, lexer->at, 0);
    void *grown =
        qpu__grow(lexer->arena, source->lines, source->line_count, &lexer->line_capacity, sizeof *source->lines);
    if (grown) {
        source->lines = grown;
        source->lines[source->line_count++] = lexer->tokens;
    }
    lexer->tokens = NULL;
    lexer->count = lexer->capacity = 0;
}

/* A comment over several lines ends each of them. */
static void skip_long_comment(struct lexer *lexer)
{
    const char *start = lexer->at, *line_start = lexer->line_start;
    int line = lexer->line;
    lexer->at += 2;
    while (lexer->at < lexer->end && !(peek(lexer, 0) == '*' && peek(lexer, 1) == '/')) {
        if (*lexer->at == '\n') {
            end_line(lexer);
            lexer->line++;
            lexer->line_start = lexer->at + 1;
        }
        lexer->at++;
    }
    if (lexer->at == lexer->end) {
        lexer->at = start;
        lexer->line = line;
        lexer->line_start = line_start;
        wrong(lexer, "this comment does not end");
        lexer->at = lexer->end;
        return;
    }
    lexer->at += 2;
}

/* Digits of a base, at most 64 bits of them; the whole word must be digits. */
static void integer(struct lexer *lexer, const char *start, const char *digits, const char *end, int base)
{
    char text[72];
    char *stop = text;
    size_t length = (size_t)(end - digits);
    struct qpu__token *token = add(lexer, QPU__INTEGER, start, (int)(end - start));
    if (!token)
        return;
    if (length && length < sizeof text) {
        memcpy(text, digits, length);
        text[length] = 0;
        errno = 0;
        uint64_t value = strtoull(text, &stop, base);
        if (!*stop && !errno && value <= UINT32_MAX) {
            token->integer = (int64_t)value;
            return;
        }
    }
    token->kind = QPU__WRONG;
    token->text = length < sizeof text ? "this is no number of at most 32 bits" : "this number is too long";
    token->length = (int)strlen(token->text);
}

static void real(struct lexer *lexer, const char *start, const char *end)
{
    char text[64];
    char *stop;
    size_t length = (size_t)(end - start);
    struct qpu__token *token = add(lexer, QPU__REAL, start, (int)length);
    if (!token)
        return;
    if (length < sizeof text) {
        memcpy(text, start, length);
        text[length] = 0;
        token->real = strtod(text, &stop);
        if (!*stop && !isinf(token->real))
            return;
    }
    token->kind = QPU__WRONG;
    token->text = length < sizeof text && !*stop ? "this number is too large" : "this is no number";
    token->length = (int)strlen(token->text);
}

static void number(struct lexer *lexer)
{
    const char *start = lexer->at, *at = start, *end = lexer->end;
    while (at < end && isdigit((unsigned char)*at))
        at++;
    bool point = at < end && *at == '.' && !(end - at > 1 && letter(at[1]));
    bool exponent = at < end && (*at == 'e' || *at == 'E') && !(*start == '0' && at == start + 1);
    if (point || exponent) {
        if (point)
            at++;
        while (at < end && (alphanumeric(*at) || ((*at == '+' || *at == '-') && (at[-1] == 'e' || at[-1] == 'E'))))
            at++;
        real(lexer, start, at);
    } else {
        const char *digits_end = at;
        while (at < end && alphanumeric(*at))
            at++;
        bool prefixed = *start == '0' && at - start > 2;
        if (prefixed && (start[1] == 'x' || start[1] == 'X'))
            integer(lexer, start, start + 2, at, 16);
        else if (prefixed && (start[1] == 'b' || start[1] == 'B'))
            integer(lexer, start, start + 2, at, 2);
        else if (at == digits_end + 1 && (*digits_end == 'f' || *digits_end == 'b'))
            add(lexer, QPU__LOCAL, start, (int)(at - start));
        else
            integer(lexer, start, start, at, *start == '0' ? 8 : 10);
    }
    lexer->at = at;
}

static void word(struct lexer *lexer, enum qpu__token_kind kind)
{
    const char *start = lexer->at;
    while (lexer->at < lexer->end && alphanumeric(*lexer->at))
        lexer->at++;
    add(lexer, kind, start, (int)(lexer->at - start));
}

static void string(struct lexer *lexer, char closing)
{
    const char *start = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != closing && *lexer->at != '\n')
        lexer->at++;
    if (peek(lexer, 0) != closing) {
        lexer->at = start - 1;
        wrong(lexer, "this string does not end");
        while (lexer->at < lexer->end && *lexer->at != '\n')
            lexer->at++;
        return;
    }
    add(lexer, QPU__STRING, start, (int)(lexer->at - start));
    lexer->at++;
}

static void punctuation(struct lexer *lexer)
{
    static const char *const signs[] = {"<<<", ">>>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "^^", "**", "::"};
    size_t left = (size_t)(lexer->end - lexer->at);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i]);
        if (left >= length && !memcmp(lexer->at, signs[i], length)) {
            add(lexer, QPU__PUNCTUATION, lexer->at, (int)length);
            lexer->at += length;
            return;
        }
    }
    if (*lexer->at && strchr("+-*/%&|^~!<>()[],;:?=", *lexer->at))
        add(lexer, QPU__PUNCTUATION, lexer->at, 1);
    else
        wrong(lexer, "this character has no meaning here");
    lexer->at++;
}

static bool after_include(const struct lexer *lexer)
{
    return lexer->count && qpu__is(&lexer->tokens[lexer->count - 1], "include") &&
           lexer->tokens[lexer->count - 1].kind == QPU__SUFFIX;
}

static void next(struct lexer *lexer)
{
    int c = peek(lexer, 0);
    if (c == '#' || (c == '/' && peek(lexer, 1) == '/')) {
        while (lexer->at < lexer->end && *lexer->at != '\n')
            lexer->at++;
    } else if (c == '/' && peek(lexer, 1) == '*') {
        skip_long_comment(lexer);
    } else if (c == '\n') {
        end_line(lexer);
        lexer->line_start = ++lexer->at;
        lexer->line++;
    } else if (c == ' ' || c == '\t' || c == '\r') {
        lexer->at++;
    } else if (letter(c)) {
        word(lexer, QPU__NAME);
    } else if (isdigit(c)) {
        number(lexer);
    } else if (c == '.' && alphanumeric(peek(lexer, 1))) {
        lexer->at++;
        word(lexer, QPU__SUFFIX);
        if (lexer->count)
            lexer->tokens[lexer->count - 1].column--;
    } else if (c == '"' || (c == '<' && after_include(lexer))) {
        string(lexer, c == '"' ? '"' : '>');
    } else {
        punctuation(lexer);
    }
}

struct qpu__source *qpu__lex(struct qpu__arena *arena, const char *file, const char *text, size_t size)
{
    struct qpu__source *source = qpu__alloc(arena, sizeof *source);
    char *copy = qpu__copy(arena, text, size);
    if (!source || !copy || !(source->file = qpu__copy(arena, file, strlen(file))))
        return NULL;
    struct lexer lexer = {
        .arena = arena, .source = source, .at = copy, .end = copy + size, .line_start = copy, .line = 1};
    while (lexer.at < lexer.end && !arena->exhausted)
        next(&lexer);
    end_line(&lexer);
    return arena->exhausted ? NULL : source;
}

bool qpu__is(const struct qpu__token *token, const char *text)
{
    return (token->kind == QPU__PUNCTUATION || token->kind == QPU__NAME || token->kind == QPU__SUFFIX) &&
           strlen(text) == (size_t)token->length && !memcmp(token->text, text, (size_t)token->length);
}
