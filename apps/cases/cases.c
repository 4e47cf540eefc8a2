/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From a case's text to its meaning, and the verdicts. */
#include "cases.h"
#include "shared/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMNS 110

enum { CASE_SYNTAX = 320 };

const struct case_kind *const case_kinds[] = {&case_fft,         &case_spectrum,  &case_filter, &case_channelizer,
                                              &case_synthesizer, &case_resampler, &case_ofdm,   &case_receive,
                                              &case_viterbi,     &case_ldpc,      &case_chain,  NULL};

static const struct case_kind *find_kind(const char *name)
{
    for (const struct case_kind *const *kind = case_kinds; *kind; kind++)
        if (!strcmp((*kind)->name, name))
            return *kind;
    return NULL;
}

/* In lines that end before a word in brackets. */
static void print_syntax(const char *syntax)
{
    size_t column = (size_t)printf("  ");
    for (size_t length; *syntax; syntax += length) {
        length = 1 + strcspn(syntax + 1, "[");
        if (column + length > HELP_COLUMNS)
            column = (size_t)printf("\n      ") - 1;
        column += (size_t)printf("%.*s", (int)length, syntax);
    }
    putchar('\n');
}

void case_print_kinds(void)
{
    for (size_t i = 0; case_kinds[i]; i++)
        print_syntax(case_kinds[i]->syntax);
}

/* Of the words that the syntax spells out, the one that was meant, which may be the same in a wrong place; those with a
 * number in them end in capitals. */
static const char *meant_word(const struct case_kind *kind, const char *word, char spelled[CASE_SYNTAX])
{
    const char *all[CASE_SYNTAX / 2] = {NULL};
    size_t count = 0;
    snprintf(spelled, CASE_SYNTAX, "%s", kind->syntax);
    for (char *rest = spelled, *next; (next = strsep(&rest, "[]:|, "));)
        if (strlen(next) > 3 && next[strspn(next, "abcdefghijklmnopqrstuvwxyz0123456789")] == '\0')
            all[count++] = next;
    return nearest_word(word, all);
}

static int tell_problem(const struct case_kind *kind, const char *text, char *const *words, size_t count,
                        const char *problem)
{
    char spelled[CASE_SYNTAX];
    const char *meant = NULL;
    bool is_word = false;
    for (size_t i = 0; i < count; i++)
        is_word |= problem == words[i];
    if (!is_word)
        return fail(EXIT_USAGE, "the case '%s' is impossible: %s", text, problem);
    if ((meant = meant_word(kind, problem, spelled)) && strcmp(meant, problem))
        return fail(EXIT_USAGE, "the case '%s' is impossible: '%s'; did you mean '%s'?", text, problem, meant);
    return fail(EXIT_USAGE, "the case '%s' is impossible: '%s'; it must be %s", text, problem, kind->syntax);
}

int case_parse(struct test_case *test, const char *text)
{
    char copy[CASE_TEXT], *words[CASE_WORDS], *rest = copy;
    const char *problem = "";
    size_t count = 0;
    *test = (struct test_case){0};
    if (strlen(text) >= CASE_TEXT)
        return fail(EXIT_USAGE, "the case '%.40s...' is too long", text);
    strcpy(copy, text);
    strcpy(test->text, text);
    while (rest && count < CASE_WORDS)
        words[count++] = strsep(&rest, ":");
    if (rest)
        return fail(EXIT_USAGE, "the case '%s' has too many words", text);
    if (!(test->kind = find_kind(words[0]))) {
        const char *names[sizeof case_kinds / sizeof *case_kinds];
        for (size_t i = 0; i < sizeof case_kinds / sizeof *case_kinds; i++)
            names[i] = case_kinds[i] ? case_kinds[i]->name : NULL;
        return fail_unknown("kind of case", words[0], names);
    }
    if (!test->kind->parse(test, words + 1, count - 1, &problem))
        return tell_problem(test->kind, text, words + 1, count - 1, problem);
    return EXIT_DONE;
}

int case_parse_all(char *const *texts)
{
    int code = EXIT_DONE;
    struct test_case test;
    for (size_t i = 0; texts && texts[i] && !code; i++)
        code = case_parse(&test, texts[i]);
    return code;
}

bool case_is_required(const struct test_case *test, const char *device)
{
    static const penstock_fft_options none;
    size_t n = test->fft.n;
    bool host = !strcmp(device, "cpu") || !strcmp(device, "reference");
    if (host && test->kind == &case_fft && memcmp(&test->fft.options, &none, sizeof none))
        return false; /* options are for GPUs */
    if (test->kind == &case_fft && (test->fft.options.arithmetic || test->fft.options.images))
        return false; /* not all devices have that */
    if (!strcmp(device, "cpu"))
        return test->kind != &case_receive || test->receive.mode != RECEIVE_RECORDINGS;
    if (test->kind != &case_fft)
        return false;
    if (!strncmp(device, "opencl", 6) || !strncmp(device, "cuda", 4))
        return !memcmp(&test->fft.options, &none, sizeof none) ||
               (n >= 2 && n <= 8192 && !(n & (n - 1)) && test->fft.domain == PENSTOCK_COMPLEX);
    return !strcmp(device, "reference") && n <= 1024 && test->fft.domain == PENSTOCK_COMPLEX;
}

static void set_verdict(struct case_verdict *verdict, enum case_outcome outcome, const char *format, va_list arguments)
{
    verdict->outcome = outcome;
    vsnprintf(verdict->text, sizeof verdict->text, format, arguments);
}

void verdict_held(struct case_verdict *verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_verdict(verdict, CASE_HELD, format, arguments);
    va_end(arguments);
}

void verdict_failed(struct case_verdict *verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_verdict(verdict, CASE_FAILED, format, arguments);
    va_end(arguments);
}

void verdict_skipped(struct case_verdict *verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_verdict(verdict, CASE_SKIPPED, format, arguments);
    va_end(arguments);
}

void verdict_status(struct case_verdict *verdict, int status)
{
    if (status == PENSTOCK_ERR_UNSUPPORTED)
        verdict_skipped(verdict, "%s", penstock_error_text());
    else
        verdict_failed(verdict, "%s", *penstock_error_text() ? penstock_error_text() : penstock_status_text(status));
}

bool parse_count(const char *word, const char *prefix, size_t *count)
{
    enum { MOST = 1 << 30 };
    size_t length = strlen(prefix);
    if (strncmp(word, prefix, length))
        return false;
    return number_read_digits(word + length, strlen(word + length), MOST, count) && *count;
}

/* A window's parameter is written after '=', since ':' separates words here. */
bool parse_window(const char *word, char window[WINDOW_TEXT])
{
    char name[WINDOW_TEXT];
    float probe;
    if (strlen(word) >= WINDOW_TEXT)
        return false;
    strcpy(name, word);
    char *equals = strchr(name, '=');
    if (equals)
        *equals = ':';
    if (penstock_window_fill(&probe, 1, name))
        return false;
    strcpy(window, name);
    return true;
}

bool parse_output(const char *word, penstock_output *output)
{
    if (!strcmp(word, "power"))
        *output = PENSTOCK_OUTPUT_POWER;
    else if (!strcmp(word, "decibel"))
        *output = PENSTOCK_OUTPUT_DECIBEL;
    else
        return false;
    return true;
}

size_t case_bench_samples(const struct case_target *target)
{
    return (size_t)1 << (strncmp(target->device, "cuda", 4) ? 18 : 24);
}
